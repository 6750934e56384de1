"""A card for every figure and table of a paper; the open one, with printed and computed side by side."""

from dataclasses import asdict

import streamlit as st

from nspca import papers
from nspca.dashboard.app import buttons, state, times, wording
from nspca.dashboard.components import figures
from nspca.dashboard.runs import export, lookup, progress, start
from nspca.dashboard.runs.lookup import opened
from nspca.dashboard.runs.tasks import engine
from nspca.jobs import JobState
from nspca.papers import ITEMS, PAPERS, VERDICTS, Item, Outcome, report
from nspca.plots.papers import gallery_figure, panel_figure
from nspca.specs import PaperSpec

USES = "uses"
TABS = {
    "asteris2014": "Asteris et al. 2014",
    "asteris2015": "Asteris et al. 2015",
    "sigg2008": "Sigg, Buhmann 2008",
    "zass2006": "Zass, Shashua 2006",
    USES: "What they use it for",
}
COLOURS = {
    "agrees": "green",
    "better": "green",
    "differs": "orange",
    "opposite": "red",
    "data not here": "grey",
    "not printed": "grey",
}
ACROSS = 3  # cards in a row


def chosen() -> str:
    """The title, and the paper that is chosen below it."""
    st.title("Do the papers’ numbers come out?")
    kept = state.get("paper")
    paper = kept if kept in TABS else next(iter(TABS))
    return st.segmented_control(
        "Paper",
        list(TABS),
        format_func=TABS.get,
        required=True,
        label_visibility="collapsed",
        **state.bind("paper", paper),
    )


def show() -> None:
    """The cards of the paper, and what the open one has to say."""
    paper = state.get("paper") if state.get("paper") in PAPERS else next(iter(PAPERS))
    st.caption(
        f"{PAPERS[paper]}. Each card is a figure or table of it: what is printed, beside what these "
        "algorithms find. Nothing printed was read off a picture."
    )
    mine = [item for item in ITEMS.values() if item.paper == paper]
    outcomes = {item.name: _outcome(item) for item in mine}
    wanted = state.get("item")
    item = next((one for one in mine if one.name == wanted), _first(mine, outcomes))
    for row in range(0, len(mine), ACROSS):
        for column, one in zip(st.columns(ACROSS), mine[row : row + ACROSS], strict=False):
            with column:
                _card(one, outcomes[one.name], one is item)
    _everything()
    _item(item, outcomes[item.name])


def _first(mine: list[Item], outcomes: dict[str, Outcome | None]) -> Item:
    """The first that has something printed and something to draw."""
    telling = (
        item
        for item in mine
        if any(printed.kind != "drawn" for printed in item.printed)
        and (outcome := outcomes[item.name]) is not None
        and outcome.panels
        and item.needs
    )
    return next(telling, mine[0])


def _spec(item: Item) -> PaperSpec:
    return PaperSpec(item=item.name, files=_digest(item.needs))


@st.cache_data(ttl=60, show_spinner=False)
def _digest(needs: tuple[str, ...]) -> str:
    return papers.digest(needs)


def _run(item: Item) -> JobState | None:
    """The newest run of this item that somebody of this workspace started, about the files as they are."""
    return lookup.that_asks(_spec(item))


@st.cache_data(show_spinner=False)
def _stored(name: str) -> Outcome | None:
    return papers.stored(name)


def _outcome(item: Item) -> Outcome | None:
    """What this workspace computed; else what was stored with the project."""
    done = _done(item)
    fresh = None if done is None else opened(done.id, done.finished, Outcome.from_json)
    return fresh if fresh is not None and (fresh.found or fresh.words) else _stored(item.name)


def _done(item: Item) -> JobState | None:
    """The newest run of it that came to its end: a later one may be under way, or have been cancelled."""
    wanted = _spec(item)
    runs = (run.id for run, spec in lookup.every(PaperSpec) if spec == wanted)
    return next((now for now in map(engine().status, runs) if now.state == "done"), None)


def _badges(item: Item, outcome: Outcome | None) -> str:
    if outcome is None:
        return ":grey-badge[not computed yet]"
    counts = papers.counts(papers.claims(item, outcome))
    return " ".join(
        f":{COLOURS[verdict]}-badge[{verdict}: {count}]" for verdict, count in counts.items() if count
    )


def _card(item: Item, outcome: Outcome | None, is_open: bool) -> None:
    with st.container(border=True, height="stretch"):
        st.markdown(f"**{item.label}** · {wording.plain(item.title)}  \n{_badges(item, outcome)}")
        buttons.button(
            "Open" if not is_open else "Shown below",
            f"open_{item.name}",
            lambda: state.put(item=item.name),
            type="tertiary",
            icon=":material/visibility:",
            disabled=is_open,
        )


def _everything() -> None:
    """All four papers in a line, and what the words mean."""
    every = [claim for item in ITEMS.values() for claim in papers.claims(item, _stored(item.name))]
    counts = papers.counts(every)
    line = ", ".join(f"{count} {verdict}" for verdict, count in counts.items())
    meaning = "\n".join(f"- **{verdict}**: {said}" for verdict, said in VERDICTS.items())
    with st.expander(f"All four papers: {len(every)} lines, {line}", icon=":material/fact_check:"):
        st.markdown(
            f"{meaning}\n\nLines in brackets stand beside the paper’s own way and are not judged. "
            "All of it as one file: `python -m nspca papers --html papers.html`."
        )


def _item(item: Item, outcome: Outcome | None) -> None:
    st.subheader(f"{item.label}: {item.title}")
    now = _run(item)
    _when(outcome, _stored(item.name))
    if now is not None and now.state != "done":
        progress.show(now, _says, _share, lambda now: None, item.name)
    else:
        _compute(item)
    st.html(report.table(papers.claims(item, outcome)))
    if outcome is None:
        return
    if outcome.said:
        st.markdown(wording.plain(outcome.said))
    _drawn(item, outcome)
    export.offer(_spec(item), key=item.name, code=item.code)


def _when(outcome: Outcome | None, stored: Outcome | None) -> None:
    if outcome is None:
        st.caption("Not computed yet.")
        return
    here = stored is None or outcome.computed != stored.computed
    made = times.day(outcome.computed, times.zone(st.context.timezone))
    whose = "Computed here" if here else "Stored answer from the originals, computed"
    st.caption(f"{whose} on {made}, took {times.how_long(outcome.seconds)}.")


def _compute(item: Item) -> None:
    """The button, or why there is none."""
    lacking = papers.missing(item.needs)
    if lacking and (not item.any_of or len(lacking) == len(item.needs)):
        st.info(
            f"To compute it here takes the original data ({wording.listed(lacking)}), which this machine has "
            "not: add them on the data page. A stand-in would say nothing about the paper.",
            icon=":material/database_off:",
        )
        return
    if lacking:
        st.caption(f"Not on this machine: {wording.listed(lacking)}; what needs them stays empty.")
    start.button(
        "Compute it here",
        lambda: start.start(_spec(item)),
        f"compute_{item.name}",
    )


def _says(now: JobState) -> str:
    if waits := progress.waiting(now):
        return waits
    if now.event is None:
        return "Begun"
    count = f" {now.event.done} of {now.event.total}" if now.event.total else ""
    return f"{wording.plain(now.event.stage)}{count}"


def _share(now: JobState) -> float:
    """Steps of an item are not comparable, so the bar shows the step that is being done."""
    event = now.event
    return event.done / event.total if event is not None and event.total else 0.0


def _drawn(item: Item, outcome: Outcome) -> None:
    pairs = [outcome.panels[i : i + 2] for i in range(0, len(outcome.panels), 2)]
    for i, pair in enumerate(pairs):
        columns = st.columns(len(pair), gap="medium")
        for j, panel in enumerate(pair):
            with columns[j]:
                st.markdown(f"**{wording.plain(panel.title)}**")
                figures.draw(panel_figure(asdict(panel)), f"{item.name}-{2 * i + j}")
    for i, gallery in enumerate(outcome.galleries):
        st.markdown(f"**{wording.plain(gallery.title)}**")
        figure = gallery_figure(gallery.title, gallery.shape, gallery.columns)
        figures.draw(figure, f"{item.name}-gallery-{i}")
    for lists in outcome.words:
        st.markdown(f"**{wording.plain(lists.title)}**")
        st.markdown(
            "\n".join(f"{i}. {wording.plain(', '.join(one))}" for i, one in enumerate(lists.lists, 1))
        )
