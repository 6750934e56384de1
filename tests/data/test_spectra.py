"""Tables whose columns are points of an axis are read as spectra, and what turns that."""

import numpy as np
import pytest

import nspca
from nspca.data.arrays import to_npz


def table(names, X):
    rows = [
        ",".join(["name", *names]),
        *(",".join([f"s{i}", *map(repr, x)]) for i, x in enumerate(X.tolist())),
    ]
    return "\n".join(rows).encode()


def peaks(points, samples=12):
    rng, at = np.random.default_rng(0), np.linspace(0, 1, points)
    heights, middles = rng.uniform(1, 2, (samples, 3, 1)), np.array([0.2, 0.5, 0.8])[:, None]
    return (heights * np.exp(-(((at - middles) / 0.1) ** 2))).sum(axis=1) + 0.01 * rng.random(
        (samples, points)
    )


@pytest.mark.parametrize(
    ("name", "unit"),
    [
        ("{}", ""),
        ("{} nm", "nm"),
        ("{} cm-1", "cm-1"),
        ("X{}", "X"),
        ("Abs.{}", "Abs"),
        ("wavenumber_{}", "wavenumber"),
    ],
)
@pytest.mark.parametrize("numbers", [400 + 2.5 * np.arange(40), 4000.0 - 8 * np.arange(40)])
def test_rows_over_numbers_in_order_are_spectra(name, unit, numbers):
    X = peaks(40)
    raw = table([name.format(f"{number:g}") for number in numbers], X)
    data = nspca.read(raw)
    assert data.kind == "spectrum" and data.axis_name == unit and np.array_equal(data.axis, numbers)
    assert np.allclose(data.X, X)
    (said,) = (one for one in data.findings if one.option == "spectra")
    as_table = nspca.read(raw, spectra=said.value)
    assert as_table.kind == "table" and as_table.axis is None and np.array_equal(as_table.X, data.X)


@pytest.mark.parametrize(
    ("names", "X"),
    [
        ([str(year) for year in range(1980, 2020)], peaks(40)),
        ([str(j) for j in range(40)], peaks(40)),
        ([f"{400 + 2 * j}" for j in range(40)], np.random.default_rng(1).random((12, 40))),
        ([f"{1800 + 5 * j}" for j in range(40)], peaks(40)),
        ([f"{2010 + j // 12}{j % 12 + 1:02}" for j in range(40)], peaks(40)),
        ([f"ch-{j}" for j in range(1, 41)], peaks(40)),
        ([f"Q{j}" for j in range(1, 44) if j not in (7, 12, 30)], peaks(40)),
        ([f"{400 + 2 * j}" for j in range(12)], peaks(12)),
        ([f"{400 + 2 * j} {'ab'[j % 2]}" for j in range(40)], peaks(40)),
        ([f"{400 + 2 * j}" for j in range(39)] + ["400.5"], peaks(40)),
    ],
    ids=[
        "years",
        "counted",
        "rough",
        "years in fives",
        "months",
        "channels",
        "questions",
        "few",
        "other words",
        "out of order",
    ],
)
def test_other_tables_are_none(names, X):
    assert nspca.read(table(names, X)).kind == "table"


def test_a_few_other_columns_are_left_out_and_said():
    X = np.hstack([np.random.default_rng(2).random((12, 2)) * 50, peaks(40)])
    raw = table(["moisture", "fat", *(f"{400 + 2 * j}" for j in range(40))], X)
    data = nspca.read(raw)
    assert data.kind == "spectrum" and data.X.shape == (12, 40) and data.axis[0] == 400
    (said,) = (one for one in data.findings if one.option == "spectra")
    assert '"moisture", "fat" are no part of them' in said.what
    assert nspca.read(raw, spectra=False).X.shape == (12, 42)


def test_columns_beside_spectra_are_still_weights_and_labels():
    numbers = [f"{400 + 2 * j}" for j in range(40)]
    X = np.hstack([np.tile([[1.0], [2.0], [0.0]], (4, 1)), np.repeat([[1.0], [2.0]], 6, axis=0), peaks(40)])
    raw = table(["weight", "dose", *numbers], X)
    data = nspca.read(raw, weight_column="weight")
    assert data.kind == "spectrum" and data.X.shape == (8, 40) and set(data.weights) == {1, 2}
    (said,) = (one for one in data.findings if one.option == "spectra")
    assert ("label_column", "dose") in {(way.option, way.value) for way in said.ways}
    data = nspca.read(raw, label_column="dose")
    assert data.kind == "spectrum" and data.labels.tolist() == ["1.0"] * 6 + ["2.0"] * 6


def test_a_row_of_one_value_does_not_hide_spectra():
    X = peaks(40)
    X[3] = 0
    assert nspca.read(table([f"{400 + 2 * j}" for j in range(40)], X)).kind == "spectrum"


def test_a_table_can_be_called_spectra_if_its_names_are_numbers():
    rough = np.random.default_rng(1).random((12, 15))
    data = nspca.read(table([f"{400 + 2 * j}" for j in range(15)], rough), spectra=True)
    assert data.kind == "spectrum" and data.axis[-1] == 428
    for names, cause in (
        ([f"g{j % 3}_{j}" for j in range(15)], r'15 columns have other names \("g0_0"'),
        ([*(f"{400 + 2 * j}" for j in range(11)), *"abcd"], '4 columns have other names \\("a", "b" and 2'),
        ([f"{400 + 2 * (j ^ 1)}" for j in range(15)], "some are out of order"),
    ):
        with pytest.raises(nspca.InvalidData, match=f"no numbers that rise or fall, since {cause}"):
            nspca.read(table(names, rough), spectra=True)


def test_the_axis_and_its_name_are_in_an_archive():
    data = nspca.read(table([f"{400 + 2 * j} nm" for j in range(40)], peaks(40)))
    again = nspca.read(to_npz(data))
    assert again.kind == "spectrum" and again.axis_name == "nm" and np.array_equal(again.axis, data.axis)


@pytest.mark.parametrize("first", ["gene", "Entrez_Gene_Id"])
def test_genes_with_numbers_in_order_are_no_axis(first):
    names = [f"ENSG{j:011}" if first == "gene" else str(1000 + 7 * j) for j in range(40)]
    X = peaks(40)
    lines = [",".join([name, *map(str, column)]) for name, column in zip(names, X.T.tolist(), strict=True)]
    header = ",".join([first, *(f"s{i}" for i in range(len(X)))])
    data = nspca.read("\n".join([header, *lines]).encode())
    assert data.X.shape == X.shape and data.kind == "table"
    samples = [",".join([f"s{i}", *map(str, row)]) for i, row in enumerate(X.tolist())]
    data = nspca.read(
        "\n".join([",".join(["name", *(f"ENSG{j:011}" for j in range(40))]), *samples]).encode()
    )
    assert data.X.shape == X.shape and data.kind == "table"


def test_an_archive_of_what_was_read_as_a_table_is_read_as_a_table():
    X = np.hstack([np.random.default_rng(2).random((12, 1)) * 50, peaks(40)])
    raw = table(["moisture", *(f"{400 + 2 * j}" for j in range(40))], X)
    data = nspca.read(raw, spectra=False)
    again = nspca.read(to_npz(data))
    assert again.kind == "table" and again.feature_names == data.feature_names
    assert nspca.read(to_npz(data), spectra=True).kind == "spectrum", "who asks for spectra gets them"
    assert to_npz(again) == to_npz(data)
