"""What to find at once: data that suit the page, how many components of what size, by which methods; checked
before anything starts.
"""

from collections.abc import Callable
from dataclasses import dataclass

import streamlit as st

import nspca
from nspca.dashboard import open_data
from nspca.dashboard.app import state, wording
from nspca.dashboard.joint.sizes import DEFAULT, LARGE, MOST, QUICK, default_sizes, read_sizes
from nspca.dashboard.open_data import Chosen
from nspca.dashboard.runs import methods
from nspca.dashboard.runs import options as method_options
from nspca.data import SAMPLES, Dataset
from nspca.errors import InvalidProblem, NSPCAError
from nspca.specs import ComponentsSpec, DataSpec
from nspca.specs.components import BUDGET
from nspca.specs.data import is_stand_in

MINE = "mine"
EFFORTS = {"none": "no proof", "fast": "fast", "standard": "standard", "thorough": "thorough"}
METHODS_HELP = (
    "{} find all components at once; the others find one after another, each without the "
    "features used before."
)
MOST_BUDGET = 100_000


@dataclass(frozen=True)
class Subject:
    """What a page calls things, and what it starts with.

    Parameters
    ----------
    key : name of the page's run in the address
    data_key : name of its own choice of data in the address
    one, feature : what a component and a feature are called
    sample, otherwise : shown when nothing that suits was chosen, and in its place where its original is
    absent
    suits : whether a data set can be shown on the page
    r, size : components and features in each, at first
    """

    key: str
    data_key: str
    one: str
    feature: str
    sample: str
    otherwise: str
    suits: Callable[[Dataset], bool]
    r: int
    size: int

    @property
    def first(self) -> str:
        """The sample that is shown when nothing that suits was chosen: an original, never a stand-in."""
        return self.otherwise if is_stand_in(self.sample) else self.sample

    def count(self, number: int) -> str:
        return f"{number} {self.one}{'' if number == 1 else 's'}"


def data(about: Subject) -> Chosen:
    """The data of the page, with the choice between those that suit it."""
    fitting = [name for name, sample in SAMPLES.items() if (sample.kind == "image") == (about.key == "parts")]
    mine = _mine(about)
    options = [*([MINE] if mine else []), *fitting]
    wanted = state.get(about.data_key)
    if wanted not in options:
        kept = state.get("sample") if state.is_kept("sample") else None
        wanted = MINE if mine else kept if kept in fitting else about.first
    names = {MINE: mine.dataset.name if mine else ""}
    st.selectbox(
        "Images" if about.key == "parts" else "Data",
        options,
        width=420,
        format_func=lambda name: (
            names.get(name) or SAMPLES[name].title + (" · stand-in" if is_stand_in(name) else "")
        ),
        **state.bind(about.data_key, wanted, then=lambda: _other_data(about)),
    )
    if wanted == MINE:
        return mine
    # The data page may have changed the sample in force; one that leaves no image behind does not count.
    in_force = not _own() and state.get("sample") == wanted
    changed = open_data.opened() if in_force else None
    return (
        changed if changed and about.suits(changed.dataset) else open_data.find(DataSpec(sample=wanted), None)
    )


def _mine(about: Subject) -> Chosen | None:
    """The upload or the folder in force, when it suits the page; of a folder all rows."""
    if not _own():
        return None
    try:
        found = open_data.whole(open_data.opened())
    except NSPCAError:  # the data page says what is wrong with it; here the samples remain
        return None
    return found if about.suits(found.dataset) else None


def _own() -> bool:
    return state.get("upload") is not None or state.get("folder") is not None


def _other_data(about: Subject) -> None:
    state.forget((about.key, "r", "size", "raw", "face", "using", "topic", "named"))


def usual(about: Subject, of: Chosen) -> ComponentsSpec:
    """What the page answers before anybody asks: the inputs as they are at first; of many features by fewer
    methods.
    """
    n = of.dataset.X.shape[1]
    r, size = default_sizes(n, about.r, about.size)
    center = not of.dataset.is_covariance and not _counts(about, of)
    able = methods.able(methods.refusals(of, True, center, False))
    by = tuple(name for name in (QUICK if n > LARGE else DEFAULT) if name in able)
    return ComponentsSpec(data=of.spec, sizes=(size,) * r, methods=by, center=center, noun=about.one)


def _counts(about: Subject, of: Chosen) -> bool:
    """Word counts, which are left as they are at first."""
    return of.dataset.kind == "words" and about.key == "topics"


def asked(about: Subject, of: Chosen) -> ComponentsSpec:
    """The inputs, and the request they add up to.

    Raises
    ------
    InvalidProblem
        When sizes do not fit; the sentence says what is possible.
    """
    n = of.dataset.X.shape[1]
    first, second, third = st.columns([1, 1, 2], vertical_alignment="bottom")
    r, sizes = _sizes(about, n, first, second)
    signed = third.segmented_control(
        "Weights",
        [False, True],
        format_func={False: "nonnegative", True: "of any sign"}.get,
        required=True,
        **state.bind("signed"),
    )
    with st.expander("Methods, proof, preparation", icon=":material/tune:"):
        place = st.container()
        center, scale, effort = _preparation(about, of)
        refusals = methods.refusals(of, not signed, center, scale)
        with place:
            by, options = _methods([name for name in methods.able(refusals) if name in nspca.METHODS])
    for method, given in method_options.form(by, besides=(".".join(BUDGET),)).items():
        options[method] = options.get(method, {}) | given
    return ComponentsSpec(
        data=of.spec,
        noun=about.one,
        sizes=read_sizes(sizes or "", _whole(r, about), n),
        methods=tuple(by),
        options=options,
        effort=None if effort == "none" else effort,
        nonneg=not signed,
        center=center,
        scale=scale,
    )


def _sizes(about: Subject, n: int, left, right) -> tuple[int | None, str]:
    r, size = default_sizes(n, about.r, about.size)
    kept = state.get("r")
    r = left.number_input(f"Number of {about.one}s", step=1, **state.bind("r", r if kept is None else None))
    sizes = right.text_input(
        f"{about.feature.capitalize()}s in each",
        help="One number for all, or one for each with commas between: 40, 40, 20.",
        **state.bind("size", str(size) if state.get("size") is None else None),
    )
    return r, sizes


def _whole(r: int | None, about: Subject) -> int:
    if r is None or not 1 <= r <= MOST:
        raise InvalidProblem(
            f"number of {about.one}s must be between 1 and {MOST}, got {'nothing' if r is None else r}"
        )
    return r


def _methods(able: list[str]) -> tuple[list[str], dict]:
    able = sorted(able, key=lambda name: not nspca.METHODS[name].joint)
    at_once = [name for name in able if nspca.METHODS[name].joint]
    kept = [name for name in state.get("by") or DEFAULT if name in able] or [DEFAULT[0]]
    about = f"{METHODS_HELP.format(wording.listed(at_once).capitalize())}\n{methods.summaries(able)}"
    by = (
        st.multiselect("Methods", able, format_func=methods.label, help=about, **state.bind("by", kept))
        or kept
    )
    options = {}
    if "bipartite" in by:
        budget = st.number_input(
            "Points of the net for bipartite",
            step=100,
            help="Each point costs one matching.",
            **state.bind("budget", _budget()),
        )
        if budget is None or not 1 <= budget <= MOST_BUDGET:
            raise InvalidProblem(
                f"points of the net must be between 1 and {MOST_BUDGET:,}, got "
                f"{'nothing' if budget is None else budget}"
            )
        options["bipartite"] = {"samples": budget}
    return by, options


def _budget() -> int | None:
    return None if state.get("budget") else 1


def _preparation(about: Subject, of: Chosen) -> tuple[bool, bool, str]:
    """Centre, standardise, and how hard to look for a bound."""
    given = of.dataset.is_covariance
    with st.container(horizontal=True, vertical_alignment="bottom"):
        effort = st.selectbox(
            "Effort for the proof",
            list(EFFORTS),
            format_func=EFFORTS.get,
            width=170,
            help="How hard to look for a bound that no other choice can exceed.",
            **state.bind("proof", state.get("proof") if state.get("proof") in EFFORTS else "standard"),
        )
        if _counts(about, of):
            raw = st.toggle(
                "Counts as they are", help=WHY_RAW, **state.bind("raw", state.get("raw") is not False)
            )
            center = not raw
        else:
            center = st.toggle(
                "Centre",
                disabled=given,
                help="Subtract each feature's mean, as PCA does.",
                **state.bind("center"),
            )
        scale = st.toggle(
            "Standardise",
            disabled=given,
            help="Divide every feature by its standard deviation.",
            **state.bind("scale"),
        )
    return center and not given, scale and not given, effort


WHY_RAW = """Word counts are mostly zeros: centring would fill them all, and a topic would also speak of the
words that documents lack.
Left as they are, a topic is what documents have in common. Switch it off to subtract each word's mean."""
