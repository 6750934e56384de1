"""The papers page: one figure or table at a time, with its answer, its picture and its details."""

from dataclasses import asdict, replace
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from nspca import papers
from nspca.dashboard import export, share
from nspca.dashboard.app import buttons, frame, state, tables, times, wording
from nspca.dashboard.components import figures
from nspca.dashboard.data import cards
from nspca.dashboard.runs import lookup, progress, start
from nspca.dashboard.runs.tasks import engine
from nspca.data import SAMPLES
from nspca.jobs import JobState
from nspca.papers import ITEMS, VERDICTS, Claim, Item, Outcome, exact, report
from nspca.papers.item import TOLERANCE, Found, Panel
from nspca.plots.papers import gallery_figure, miniature, panel_figure
from nspca.presentation.numerals import format_value
from nspca.specs import PaperSpec

EXACT = "exact"
TITLES = {
    "asteris2014": "Asteris et al. 2014",
    "asteris2015": "Asteris et al. 2015",
    "sigg2008": "Sigg, Buhmann 2008",
    "zass2006": "Zass, Shashua 2006",
}
SAID = {
    "agrees": ("agrees with what is computed here", "agree with what is computed here"),
    "better": ("is exceeded", "are exceeded"),
    "differs": ("differs", "differ"),
    "opposite": ("is the opposite here", "are the opposite here"),
    "data not here": ("needs data that are not here", "need data that are not here"),
}
"""Verbs for one and for several statements with each verdict."""
SMALL = 320  # height in pixels of the picture, which leaves room for the first lines of the table on a laptop


def show() -> None:
    """Show all figures and tables of the papers, or the one that the address names."""
    share.title("Do we get the numbers of the papers?")
    if state.get("item") not in ITEMS and state.get("paper") != EXACT:
        _overview()
        return
    everything = partial(state.put, item=None, paper=None)
    buttons.button("All four papers", "all_papers", everything, icon=":material/arrow_back:", type="tertiary")
    if state.get("paper") == EXACT:
        _exact()
        return
    item = ITEMS[state.get("item")]
    view(item, _outcome(item), lookup.find_newest(_spec(item)))


def _overview() -> None:
    """Draw how many printed claims come out, and every figure and table as a card to click."""
    claims = {name: papers.claims(item, _stored(name)) for name, item in ITEMS.items()}
    counts = papers.counts([one for several in claims.values() for one in several])
    judged = sum(counts.values()) - counts["data not here"] - counts["not printed"]
    st.markdown(
        f"## Four papers, {judged} printed claims: {counts['agrees'] + counts['better']} come out, "
        f"{counts['differs']} differ, {counts['opposite']} are the opposite."
    )
    st.html(cards.WHOLE)
    for paper, name in TITLES.items():
        items = [item for item in ITEMS.values() if item.paper == paper]
        if not state.get("present"):
            st.markdown(f"### {name}")
            with st.grid(5, min_column_width=120):
                for item in items:
                    _card(item, claims[item.name])
            continue
        every = [claim for item in items for claim in claims[item.name]]
        st.markdown(f"### {name}: {_marked(every)}")
        with st.container(horizontal=True, key=f"large_{paper}"):
            for item in items:
                _choose(item, _marked(claims[item.name], item.label))
    st.markdown("### Exact methods")
    go = partial(state.put, paper=EXACT)
    buttons.button("Published exact methods on the same matrices", "choose_exact", go, type="tertiary")
    meaning = "\n".join(f"- **{verdict}**: {said}" for verdict, said in VERDICTS.items())
    with st.expander(
        f"What the verdicts mean; {counts['data not here']} claims need data that are not here",
        type="compact",
    ):
        st.markdown(
            f"{meaning}\n\nA verdict is about the paper’s own reading. Stronger methods stand beside it and "
            "are not judged. No number was read off a picture. One file with everything: "
            "`python -m nspca papers --html papers.html`."
        )


def _card(item: Item, claims: list[Claim]) -> None:
    with st.container(key=f"card_{item.name}", gap="xsmall"):
        if (outcome := _stored(item.name)) is not None:
            style = "width:100%;height:70px;object-fit:contain;object-position:left;display:block"
            st.html(wording.drawing(miniature(asdict(outcome)), style, f"{item.label} in small"))
        _choose(item, f"{item.label}: {item.title}")
        st.caption(_marked(claims))


def _choose(item: Item, label: str) -> None:
    take = partial(state.put, item=item.name, paper=item.paper)
    buttons.button(label, f"choose_{item.name}", take, type="tertiary")


def _marked(claims: list[Claim], label: str = "") -> str:
    """Return a label, by default how many claims come out, with the sign and the colour of that."""
    counts = papers.counts(claims)
    came, known = counts["agrees"] + counts["better"], sum(counts.values()) - counts["data not here"]
    judged = known - counts["not printed"]
    if not judged:
        return label or ("drawn again" if counts["not printed"] else "needs data that are not here")
    if came == judged:
        all_ = "it comes out" if judged == 1 else f"all {judged} come out"
        return f":material/check: {label or all_}"
    differ, opposite = counts["differs"], counts["opposite"]
    some = [f"{differ} of {judged} differ{'s' * (differ == 1)}"] * (differ > 0)
    some += [f"{opposite} of {judged} {'is' if opposite == 1 else 'are'} the opposite"] * (opposite > 0)
    return f":orange[:material/warning: {label or ', '.join(some)}]"


def view(item: Item, outcome: Outcome | None, now: JobState | None) -> None:
    """Draw the answer: a sentence, the picture, an example, the table of claims, and folded details."""
    claims = papers.claims(item, outcome)
    with frame.picture():
        headline, example = answer(item, claims)
        st.markdown(f"## {wording.unbroken(wording.plain(headline))}")
        if now is not None and now.state != "done":
            progress.show(now, name=item.name)
        rest = _picture(item, outcome)
        if example:
            st.markdown(wording.unbroken(wording.plain(example)))
    known = sorted(claims, key=lambda claim: claim.verdict == "data not here")
    if any(claim.printed.value is not None for claim in known):
        st.caption(
            f"Agrees: within {100 * TOLERANCE:.0f} % of the printed number, in one reading of the paper."
        )
    st.html(report.table([replace(claim, found=_judged(claim)) for claim in known], beside=False))
    if outcome is not None and outcome.said:
        st.markdown(wording.plain(outcome.said))
    for one in outcome.tables if outcome is not None else []:
        st.html(report.text_table(one))
    _more(item, outcome, claims, rest)
    _compute(item, outcome, now)


def answer(item: Item, claims: list[Claim]) -> tuple[str, str]:
    """Return the outcome of a figure or table as a headline, and more about its statements or nothing."""
    counts = {verdict: n for verdict, n in papers.counts(claims).items() if n and verdict != "not printed"}
    if not counts:
        return f"{item.label} is drawn without numbers, and is drawn again here.", ""
    total, some = sum(counts.values()), [claim.support for claim in claims if report.readings(claim)]
    if total == 1:
        only = f", read in {some[0][0]} of {some[0][1]} ways," if some else ""
        said = f"The one statement of {item.label}{only} {SAID[next(iter(counts))][0]}."
    elif len(counts) == 1:
        every = "Both" if total == 2 else f"All {total}"
        only = f", {len(some)} of them in some readings only" if some else ""
        said = f"{every} statements of {item.label} {SAID[next(iter(counts))][1]}{only}."
    else:
        parts = [f"{n} {SAID[verdict][n > 1]}" for verdict, n in counts.items()]
        hold = "hold" if len(some) > 1 else "holds"
        only = f" {len(some)} {hold} in some readings of the paper only." if some else ""
        said = f"Of {total} statements of {item.label}, {', '.join(parts[:-1])} and {parts[-1]}.{only}"
    example = _example(item, claims)
    return (example, said) if example and len(counts) == 1 else (said, example)


def _example(item: Item, claims: list[Claim]) -> str:
    """Return the first printed number beside the nearest computed one; empty without such a number."""
    for claim in claims:
        value = claim.printed.value
        found = [one for one in _judged(claim) if isinstance(one.value, float)]
        if value is not None and found:
            nearest = min(found, key=lambda one: abs(float(one.value) - value))
            unit, value_text = (
                " %" * (", %" in claim.printed.what),
                format_value(float(nearest.value), 3).removesuffix(".0"),
            )
            comes = {"agrees": "comes out", "better": "is exceeded"}.get(claim.verdict, "does not come out")
            return f"{item.label}: the printed {report.printed_number(claim)} {comes} ({value_text}{unit})."
    return ""


def _judged(claim: Claim) -> tuple[Found, ...]:
    return tuple(one for one in claim.found if one.judged)


def _spec(item: Item) -> PaperSpec:
    return PaperSpec(item=item.name, files=_digest(item.needs))


@st.cache_data(ttl=60, show_spinner=False)
def _digest(needs: tuple[str, ...]) -> str:
    """Return the hash of the data files that an item needs, read at most once a minute."""
    return papers.digest(needs)


@st.cache_data(show_spinner=False)
def _stored(name: str) -> Outcome | None:
    return papers.stored(name)


def _outcome(item: Item) -> Outcome | None:
    """Return the outcome that this workspace computed, or else the one that ships with the project."""
    done = _done(item)
    fresh = None if done is None else lookup.read_result(done.id, done.finished, Outcome.from_json)
    return fresh if fresh is not None and (fresh.found or fresh.words) else _stored(item.name)


def _done(item: Item) -> JobState | None:
    wanted = _spec(item)
    runs = (run.id for run, spec in lookup.find_all(PaperSpec) if spec == wanted)
    return next((now for now in map(engine().status, runs) if now.state == "done"), None)


def _picture(item: Item, outcome: Outcome | None) -> list[Panel]:
    """Draw the first one or two panels, or the components; return the other panels for later."""
    if outcome is None:
        return []
    # Two panels with equal axes belong together, as in a figure of two parts.
    first, rest = outcome.panels[:2], outcome.panels[2:]
    if first:
        columns = st.columns(len(first), gap="medium")
        for i, (column, panel) in enumerate(zip(columns, first, strict=True)):
            with column:
                _draw(panel, f"{item.name}-{i}")
    for i in range(len(outcome.galleries[:2])):
        _gallery(item, outcome, i)
    for lists in outcome.words:
        st.markdown(f"**{wording.plain(lists.title)}**")
        lines = [f"{i}. {wording.plain(', '.join(one))}" for i, one in enumerate(lists.lists, 1)]
        st.markdown("\n".join(lines))
    return rest


def _draw(panel: Panel, key: str) -> None:
    st.markdown(f"**{wording.plain(panel.title)}**")
    figure = panel_figure(asdict(panel))
    figure.update_layout(height=SMALL)
    figures.draw(figure, key)


def _gallery(item: Item, outcome: Outcome, i: int) -> None:
    gallery = outcome.galleries[i]
    st.markdown(f"**{wording.plain(gallery.title)}**")
    figure = gallery_figure(gallery.title, gallery.shape, gallery.columns)
    figures.draw(figure, f"{item.name}-gallery-{i}")


def _more(item: Item, outcome: Outcome | None, claims: list[Claim], rest: list[Panel]) -> None:
    beside = [claim for claim in claims if any(not one.judged for one in claim.found)]
    if beside:
        with st.expander(
            "Stronger methods and other measures, not judged",
            icon=":material/compare_arrows:",
            type="compact",
        ):
            st.html(report.beside_table(beside))
    if outcome is None:
        return
    if rest or len(outcome.galleries) > 2:

        def draw() -> None:
            for i, panel in enumerate(rest, 2):
                _draw(panel, f"{item.name}-{i}")
            for i in range(2, len(outcome.galleries)):
                _gallery(item, outcome, i)

        frame.fold("More pictures", "fold_pictures", ":material/image:", draw)
    export.offer(_spec(item), key=item.name, code=item.code)


def _compute(item: Item, outcome: Outcome | None, now: JobState | None) -> None:
    _when(outcome, _stored(item.name))
    if now is not None and now.state != "done":
        return
    lacking = papers.missing(item.needs)
    if lacking and (not item.any_of or len(lacking) == len(item.needs)):
        known = "The numbers above were computed from the original data and stored. " * (outcome is not None)
        st.info(f"{known}To compute them here, {_bring(lacking)}", icon=":material/database_off:")
        for name in lacking:
            if name in SAMPLES:
                st.page_link(
                    "pages/data.py",
                    label=f"Data: {SAMPLES[name].title}, “In the place of”",
                    icon=":material/download:",
                    query_params=state.opening({"sample": name}),
                )
        return
    if lacking:
        st.caption(f"For the rows that stay empty, {_bring(lacking)}")
    begin = partial(start.start, _spec(item))
    look: dict[str, Any] = {"type": "primary", "icon": ":material/play_arrow:"}
    buttons.button("Compute it here", f"compute_{item.name}", begin, **look)


def _bring(lacking: list[str]) -> str:
    """Return how a visitor makes missing originals available, the end of a sentence and one for a class."""
    return (
        f"{wording.plain(papers.remedy(lacking))}. In a class, whoever runs the server does this once for "
        "everybody. Other data would say nothing about the paper."
    )


def _when(outcome: Outcome | None, stored: Outcome | None) -> None:
    if outcome is None:
        st.caption("Not computed yet.")
        return
    here = stored is None or outcome.computed != stored.computed
    made = times.day(outcome.computed, times.zone(st.context.timezone))
    whose = "Computed here" if here else "Stored answer from the originals, computed"
    st.caption(f"{whose} on {made}, took {times.how_long(outcome.seconds)} of processor time.")


def _exact() -> None:
    rows = exact.stored()
    if not rows:
        st.info("This table was not computed yet: `python -m benchmarks.published --store` makes it.")
        return
    optimal = {sign: sum(getattr(row, sign).is_optimal for row in rows) for sign in ("signed", "nonneg")}
    st.markdown(
        f"## Of {len(rows)} published problems, {optimal['signed']} are proved optimal here with any sign "
        f"and {optimal['nonneg']} with nonnegative weights, which nobody else certifies."
    )
    if refuted := exact.refutation(rows):
        st.markdown(f":material/gavel: {wording.plain(refuted)}")
    names = list(dict.fromkeys(row.matrix for row in rows))
    every = "all matrices"
    matrix = st.selectbox("Matrix", [every, *names], label_visibility="collapsed", key="exact_matrix")
    kept = [exact.cells(row) for row in rows if matrix in (every, row.matrix)]
    wide = {"matrix": st.column_config.TextColumn(width=130)}  # its longest name is not cut off
    tables.show(pd.DataFrame(kept, columns=list(exact.HEADERS)), height=430, column_config=wide)
    st.caption(
        "Published numbers are of the authors’ machines and commercial solvers. Here: effort exhaustive, one "
        "thread, CPU seconds of search and proof together. Every certificate was verified against its matrix."
    )
    with st.expander("Papers and matrices", icon=":material/menu_book:", type="compact"):
        st.markdown("\n".join(f"- {one}" for one in exact.CITED))
        st.markdown(
            f"The matrices are in the repositories {' and '.join(exact.SOURCES)}. `python -m "
            "benchmarks.published` computes the table again."
        )
