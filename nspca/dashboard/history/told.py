"""A stored run in plain words: what it is about, what was asked, where it is shown. Any stored bytes may
come: see `tell`.
"""

import json
import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from nspca.dashboard.chosen import OF_FEATURES, features_said, is_stand_in, keeping, title_of
from nspca.dashboard.runs import tasks
from nspca.dashboard.runs.options import BUDGET, for_address
from nspca.dashboard.runs.request import in_words, steps
from nspca.dashboard.shell import words
from nspca.data import PREPARATIONS, SAMPLES
from nspca.jobs import Run
from nspca.numerals import proved_ratio
from nspca.papers import ITEMS, PAPERS
from nspca.tasks.sweep import values_of_k

SAME = ("content", "nonneg", "center", "scale")  # two questions that agree in these are about one problem
# What reading a damaged or unknown run ends with.
DAMAGE = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, OSError, RecursionError)
MOST_KS = 100_000  # values of k, more than any page asks for
MOST_NAMED = 6  # values of k in no order that are named one by one
SHOW_OTHERS = ("sweep", "joint", "compare")  # tasks whose page shows further runs about the same problem
CHOSEN = {"out": "without", "only": "only"}  # features: the name in an address, and in a request
GAPS = {  # what was done about missing values
    "samples": ("without samples that miss values",),
    "features": ("without features that miss values",),
    "mean": ("means for missing values",),
}
HOME_MOST = 20  # features: home shows proofs about the digits up to here


@dataclass(frozen=True)
class Told:
    """A run in words.

    Parameters
    ----------
    what : what it is about and what was asked: ``("Digits", "sweep k = 1 to 30")``
    how : the settings
    total : rows that it reports in all; 0 when that is not known
    page, values : where it is shown, and what the address has to say; no page for what is shown beside
    another run
    """

    run: Run
    task: str
    request: dict[str, Any]
    what: tuple[str, str]
    how: tuple[str, ...] = ()
    total: int = 0
    page: str | None = None
    values: dict[str, Any] = field(default_factory=dict)

    @property
    def line(self) -> str:
        return " · ".join([*self.what, *self.how])

    @property
    def name(self) -> str:
        """What a list calls it."""
        return self.run.name or ", ".join(self.what)

    @property
    def is_sweep(self) -> bool:
        """A finished sweep, which another one can be held against."""
        return self.task == "sweep" and self.run.state == "done"

    @property
    def ks(self) -> list[int]:
        """Of a sweep."""
        return _ks(self.request)


def tell(runs: Iterable[Run]) -> list[Told | Run]:
    """Each run in words; a run that is damaged, or of a kind that is not known here, stays as it is."""
    runs = list(runs)
    first = {run.id: _told(run, []) for run in runs if tasks.named(run.function) in SHOW_OTHERS}
    shown = [one for one in first.values() if isinstance(one, Told)]
    return [first[run.id] if run.id in first else _told(run, shown) for run in runs]


def _told(run: Run, shown: list[Told]) -> Told | Run:
    try:
        return _TELL[tasks.named(run.function)](run, _given(run), shown)
    except DAMAGE:
        return run


def _given(run: Run) -> dict[str, Any]:
    given = json.loads(run.parameters)
    if not isinstance(given, dict):
        raise TypeError("no arguments")
    return given


def data_words(data: dict[str, Any]) -> str:
    """The name of a data set, and what was done to it before everything else."""
    if "folder" in data:
        name = f"{data['folder']}, some rows" if "some" in data else str(data["folder"])
    elif "sample" in data:
        name = SAMPLES[data["sample"]].title if data["sample"] in SAMPLES else str(data["sample"])
        name += " (stand-in)" if data["sample"] in SAMPLES and is_stand_in(data["sample"]) else ""
    else:
        name = title_of(data["file"])
    first = tuple(PREPARATIONS[step].title for step in data.get("prepared", ()) if step in PREPARATIONS)
    changes = (("log2(x + 1)", data.get("log2")), ("without constant features", data.get("drop")))
    some = (features_said(data),) if any(data.get(how) for how in OF_FEATURES) else ()
    gaps, last = GAPS.get(data.get("missing"), ()), (word for word, on in changes if on)
    return ", ".join([name, *gaps, *first, *some, *last])


def _where(data: dict[str, Any]) -> dict[str, Any]:
    """The values of the address that choose a data set."""
    values: dict[str, Any] = {"log": bool(data.get("log2")), "drop": bool(data.get("drop"))}
    values["prep"] = [str(step) for step in data.get("prepared") or ()]
    values |= {name: [int(j) for j in data.get(stored) or ()] for name, stored in CHOSEN.items()}
    values["one"] = [[int(j) for j in group] for group in data.get("together") or ()]
    if "folder" in data:
        return {"folder": str(data["folder"]), "some": "some" in data, **values}
    if "sample" in data:
        return {"sample": data["sample"], **values}
    names = {"upload": "upload", "vocab": "vocabulary", "cov": "covariance"}
    names |= {"id": "id_column", "label": "label_column", "rows": "features_in_rows", "gaps": "missing"}
    return values | {name: data.get(stored) for name, stored in names.items()}


def _weights(request: dict[str, Any]) -> str:
    return "nonnegative" if request["nonneg"] else "weights of any sign"


def _how(request: dict[str, Any], covariance: bool) -> tuple[str, ...]:
    """Sign, preparation, methods, effort: only what is not usual, besides the sign and the methods; a
    covariance is not prepared.
    """
    effort = request.get("effort", "fast")
    proofs = () if effort == "fast" else ("no proof" if effort is None else f"{effort} proofs",)
    changed = (
        () if covariance else (("not centred", not request["center"]), ("standardised", request["scale"]))
    )
    methods = (", ".join(request["methods"]),) if request.get("methods") else ()
    kept = len(request.get("forced") or ())
    keeps = (keeping(kept),) if kept else ()
    return (_weights(request), *keeps, *(word for word, on in changed if on), *methods, *proofs)


def _prepared(request: dict[str, Any], covariance: bool) -> dict[str, Any]:
    """The same for the address; what cannot be chosen for a covariance must not hold for the data that are
    chosen next.
    """
    changed = {} if covariance else {"center": request["center"], "scale": request["scale"]}
    return {"signed": not request["nonneg"], **changed}


def _ks(request: dict[str, Any]) -> list[int]:
    ks = values_of_k(request)
    if not 0 < len(ks) <= MOST_KS:
        raise ValueError("no sweep")
    return [int(k) for k in ks]


def _k_words(ks: list[int]) -> str:
    """``k = 3``, ``k = 1 to 30``, ``k = 5, 10, 20``."""
    few = len(ks) < 3 or (len(ks) <= MOST_NAMED and steps(ks) is None)
    return f"k = {', '.join(map(str, ks))}" if few else in_words(ks)


def _sweep(run: Run, given: dict[str, Any], shown: list[Told]) -> Told:
    request, covariance = given["request"], bool(given.get("covariance"))
    ks = _ks(request)
    range_ = {"from": ks[0], "to": ks[-1], "step": steps(ks)}
    values = {**_where(request["data"]), **_prepared(request, covariance), **range_, "run": run.id}
    values |= {"methods": list(request["methods"]), "effort": request["effort"]}
    values["keep"] = [int(j) for j in request.get("keep") or ()]
    what = (data_words(request["data"]), f"sweep {_k_words(ks)}")
    return Told(
        run,
        "sweep",
        request,
        what,
        _how(request, covariance),
        len(ks) * len(request["methods"]),
        "pages/sweep.py",
        values,
    )


def _joint(run: Run, given: dict[str, Any], shown: list[Told]) -> Told:
    request, covariance = given["request"], bool(given.get("covariance"))
    sizes = request["sizes"]
    key = (
        "parts" if run.title.rstrip("s").endswith(" part") else "topics"
    )  # the page says it there, and nowhere else
    one = key[:-1]
    each = f"{sizes[0]} features each" if len(set(sizes)) == 1 else f"{', '.join(map(str, sizes))} features"
    text = ", ".join(map(str, sizes if len(set(sizes)) > 1 else sizes[:1]))
    own, opts = request["data"].get("sample", "mine"), for_address(request.get("options") or {})
    budget = opts.pop(BUDGET, None)  # which has a field of its own
    values = {
        **_where(request["data"]),
        **_prepared(request, covariance),
        "r": len(sizes),
        "size": text,
        "by": list(request["methods"]),
    }
    values |= {
        "pictures" if key == "parts" else "texts": own,
        key: run.id,
        "proof": request["effort"] or "none",
        "opts": opts,
        "budget": budget and int(budget),
    }
    values |= {"raw": not request["center"]} if key == "topics" and not covariance else {}
    what = (data_words(request["data"]), f"{words.things(len(sizes), one)} of {each}")
    return Told(
        run,
        "joint",
        request,
        what,
        _how(request, covariance),
        len(request["methods"]),
        f"pages/{key}.py",
        values,
    )


def _compare(run: Run, given: dict[str, Any], shown: list[Told]) -> Told:
    request, covariance = given["request"], bool(given.get("covariance"))
    ks, methods = request["ks"], request["methods"]
    values = {
        **_where(request["data"]),
        **_prepared(request, covariance),
        "ks": ", ".join(map(str, ks)),
        "rivals": list(methods),
    }
    values |= {"effort": request["effort"], "compare": run.id}
    values["opts"] = for_address(request.get("options") or {})
    what = (
        data_words(request["data"]),
        f"comparison of {words.things(len(methods), 'method')}, {_k_words(ks)}",
    )
    return Told(
        run,
        "compare",
        request,
        what,
        _how(request, covariance),
        len(ks) * (len(methods) + 1),
        "pages/compare.py",
        values,
    )


def _beside_a_comparison(what: str):
    """A further question about a comparison is shown below it."""

    def told(run: Run, given: dict[str, Any], shown: list[Told]) -> Told:
        request = given["request"]
        k = request["k"]
        alike = (one for one in _alike("compare", request, shown) if k in one.request["ks"])
        among = next((one for one in alike if set(request["methods"]) <= set(one.request["methods"])), None)
        about = among.what[0] if among else run.title.partition(", ")[0]
        place = (among.page, {**among.values, "k": k}) if among else (None, {})
        total = len(request["methods"]) * request.get("resamples", 1)
        return Told(
            run,
            tasks.named(run.function),
            request,
            (about, f"{what}, k = {k}"),
            _how(request, bool(given.get("covariance"))),
            total,
            *place,
        )

    return told


def _joint_stability(run: Run, given: dict[str, Any], shown: list[Told]) -> Told:
    """A further question about parts or topics is shown below them."""
    request = given["request"]
    sizes, method = list(request["sizes"]), request["method"]
    alike = (one for one in _alike("joint", request, shown) if list(one.request["sizes"]) == sizes)
    among = next((one for one in alike if method in one.request["methods"]), None)
    what = (among.what[0] if among else run.title.partition(", ")[0], run.title.partition(", ")[2])
    place = (among.page, among.values) if among else (None, {})
    return Told(run, "joint stability", request, what, (*_how(request, False), str(method)), 0, *place)


def _beside_a_sweep(what: str):
    """A further question about a sweep is shown below it."""

    def told(run: Run, given: dict[str, Any], shown: list[Told]) -> Told:
        request = given["request"]
        ks, at = request.get("ks") or [request["k"]], {"k": request["k"]} if "k" in request else {}
        alike = (one for one in _alike("sweep", request, shown) if set(ks) <= set(one.ks))
        among = next((one for one in alike if set(request["methods"]) <= set(one.request["methods"])), None)
        about = among.what[0] if among else run.title.partition(", ")[0]
        place = (among.page, {**among.values, **at}) if among else (None, {})
        line = f"{what}, {_k_words(ks)}"
        return Told(run, tasks.named(run.function), request, (about, line), _how(request, False), 0, *place)

    return told


def _prove(run: Run, given: dict[str, Any], shown: list[Told]) -> Told:
    request = given["question"]
    k, page, values = request["k"], None, {}
    of_one = isinstance(k, int)
    beside = _alike("sweep" if of_one else "joint", request, shown)
    asker = next((one for one in beside if (k in one.ks if of_one else k == one.request["sizes"])), None)
    data = request.get("data") or (asker.request["data"] if asker else None)
    if asker:
        page, values = asker.page, {**asker.values, **({"k": k} if of_one else {})}
    elif (
        data == {"sample": "digits"}
        and of_one
        and k <= HOME_MOST
        and _how(request, False) == ("nonnegative",)
    ):
        page, values = "app.py", {"digit_k": k}
    about = data_words(data) if data else run.title.partition(", ")[0]
    return Told(
        run,
        "prove",
        request,
        (about, f"a tighter proof, {words.sizes(k)}"),
        _how(request, bool(given.get("covariance"))),
        0,
        page,
        values,
    )


def _check(run: Run, given: dict[str, Any], shown: list[Told]) -> Told:
    k = given["asked"]["k"]
    about = (run.title.partition(", ")[0], f"check of a proof, {words.sizes(k)}")
    return Told(run, "check", given["asked"], about, (_weights(given["asked"]),))


def _use(title: str, what: str, of: dict[str, str]):
    """One of the uses that the papers have."""

    def told(run: Run, given: dict[str, Any], shown: list[Told]) -> Told:
        request = given["request"]
        chosen = {name: request[stored] for name, stored in of.items() if name != "use"}
        values = {"paper": "uses", "use": of["use"], **chosen}
        how = (f"k = {request['k']}",) if "k" in request else ()
        return Told(run, tasks.named(run.function), request, (title, what), how, 0, "pages/papers.py", values)

    return told


def _paper(run: Run, given: dict[str, Any], shown: list[Told]) -> Told:
    item = ITEMS[given["request"]["item"]]
    what = (PAPERS[item.paper].partition(":")[0], f"{item.label}: {item.title}")
    values = {"paper": item.paper, "item": item.name}
    return Told(run, "paper", given["request"], what, (), 0, "pages/papers.py", values)


def _alike(task: str, request: dict[str, Any], shown: list[Told]) -> Iterable[Told]:
    """The runs of a task about the same problem, the newest first."""
    wanted = {name: request[name] for name in SAME}
    return (one for one in shown if one.task == task and _same(one.request) == wanted | _forced(request))


def _same(request: dict[str, Any]) -> dict[str, Any]:
    """What two questions about one problem agree in."""
    return {name: request.get(name) for name in SAME} | _forced(request)


def _forced(request: dict[str, Any]) -> dict[str, Any]:
    """Most say nothing of features that must be in."""
    return {"forced": list(request.get("forced") or ())}


_TELL = {
    "sweep": _sweep,
    "prove": _prove,
    "check": _check,
    "joint": _joint,
    "compare": _compare,
    "components": _beside_a_comparison("several components"),
    "stability": _beside_a_comparison("rows drawn again"),
    "joint stability": _joint_stability,
    "choice": _beside_a_sweep("rows held out and drawn again"),
    "noise": _beside_a_sweep("shuffled tables"),
    "genes": _use("Leukemia", "choosing genes", {"use": "genes", "prepared": "prepared"}),
    "detection": _use("CBCL faces", "finding faces", {"use": "faces"}),
    "pitprops": _use("Pitprops", "six components", {"use": "pitprops", "props": "k"}),
    "paper": _paper,
}


def proved(rows: Iterable[Any]) -> tuple[float, float] | None:
    """The worst and the best proved ratio over all k, from the rows of a run; of each k that of the best
    answer.
    """
    best: dict[int | None, float] = {}
    values: dict[int | None, float] = {}
    for row in rows:  # a row that has no such names counts nothing
        k, ratio = getattr(row, "k", None), getattr(row, "ratio", None)
        if isinstance(getattr(row, "value", None), int | float):
            values[k] = max(values.get(k, 0.0), row.value)
        lower, upper = getattr(row, "lower", values.get(k)), getattr(row, "upper", None)
        if ratio is None and upper and lower is not None:
            ratio = proved_ratio(lower, upper)
        if ratio is not None and math.isfinite(ratio):
            best[k] = max(best.get(k, 0.0), ratio)
    return (min(best.values()), max(best.values())) if best else None
