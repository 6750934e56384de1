"""Python that opens the data of a spec, with public names only. `DataSpec.to_python` returns it."""

from typing import Any

_DROP = """from dataclasses import replace
varying = sorted(set(range(data.X.shape[1])) - set(data.constant_columns()))
names = tuple(data.feature_names[j] for j in varying)
data = replace(data, X=data.X[:, varying], feature_names=names, image_shape=None, axis=None)"""


def python_of_data(data: Any) -> list[str]:
    """Return lines of Python that open the data of a `DataSpec` as X with its names."""
    if data.folder is not None and not data.some:
        return [f"X = nspca.Shards({data.folder!r})  # by its path", "names = X.feature_names"]
    if data.folder is not None:
        return [
            f"table = nspca.Shards({data.folder!r})  # by its path",
            f"X, rows = table.sample({data.some})",
            "names = table.feature_names",
        ]
    lines = [f"data = {_loading(data)}"]
    lines += [f"data = nspca.prepare(data, {step!r})" for step in data.prepared]
    if data.together:
        lines += ["whole = data.feature_names"]
    for how in ("only", "without"):
        if getattr(data, how):
            lines += [f"data = data.{how}({list(getattr(data, how))})  # by number, from 0"]
    if data.drop_constant and not data.covariance:
        lines += _DROP.splitlines()
    if data.log2 and not data.covariance:
        lines += ["data = nspca.prepare(data, 'log2')"]
    for group in data.together:  # `_DROP` may have removed constant features
        lines += [f"names = [whole[j] for j in {list(group)} if whole[j] in data.feature_names]"]
        lines += ["data = data.together(names) if len(names) > 1 else data"]
    # Problems and the checker take the weights of samples from the data set.
    return [*lines, f"X, names = data{'' if data.weight_column else '.X'}, data.feature_names"]


def _loading(data: Any) -> str:
    if data.sample is not None:
        return f"nspca.load_sample({data.sample!r})"
    file = data.file or data.path or "data.npz"
    words = ["vocabulary='the vocabulary file'"] if data.upload and data.vocabulary else []
    if data.path and data.vocabulary:
        words = [f"vocabulary={data.vocabulary!r}"]
    given = [repr(file), *(f"{name}={value!r}" for name, value in data.reading().items()), *words]
    given += ["annotation='the table about the samples'"] if data.upload and data.annotation else []
    given += [f"annotation={data.annotation!r}"] if data.path and data.annotation else []
    return f"nspca.{'read_text' if data.words else 'read'}({', '.join(given)})"
