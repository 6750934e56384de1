"""Printed numbers against exact floats, in figures, hovers, tables, reports and lines.

The numbers beside "nothing above", "more than", "at most", "at least" and "proved" are tested, for random
problems.
"""

import json
import re
from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import nspca
from nspca.bounds.plan import PLANS
from nspca.cli import answers, screen
from nspca.cli.run import as_text
from nspca.dashboard.components import cone_replay
from nspca.dashboard.history import page as history_page
from nspca.dashboard.joint import methods as joint_methods
from nspca.dashboard.joint import page as joint_page
from nspca.dashboard.joint import take_home as joint_everything
from nspca.dashboard.learn import screens
from nspca.dashboard.proof import attempts, optimal
from nspca.dashboard.runs.answer import Answer
from nspca.dashboard.sweep import archive, rivals
from nspca.dashboard.sweep import page as sweep_page
from nspca.dashboard.views import membership, statement
from nspca.data import Dataset
from nspca.jobs import JobState
from nspca.plots import sphere
from nspca.plots.compare import ratios_figure, styles, values_figure
from nspca.plots.gaps import gap_figure
from nspca.plots.published import with_paper_bound, with_rank3_bound
from nspca.plots.sweeps import sweep_figure
from nspca.plots.theme import alt_text
from nspca.presentation import colours
from nspca.presentation.numerals import OPTIMAL_GAP, proved_ratio
from nspca.presentation.phrases import rival_name
from nspca.progress import Event
from nspca.specs import ComponentsSpec, DataSpec, SweepSpec
from nspca.specs.rows import Found, pack
from tests.printed import BOUND, LOOSE, NUMBER, Page, Truth, Walk, hovers, read_number


def rng(seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


def made(seed: int) -> tuple[pd.DataFrame, float, float]:
    """Return rows of a sweep with bounds and gaps of all sizes and at the edges of rounding; unit, chance."""
    draw, rows = rng(seed), []
    scale = 10.0 ** draw.uniform(-4, 8)
    for k in (2, 5, 9):
        upper = scale * draw.uniform(0.2, 0.9)
        if draw.random() < 0.5:  # at the edge of a printed digit
            upper = float(f"{upper:.3e}")
            upper = np.nextafter(upper, draw.choice([0.0, np.inf])) if draw.random() < 0.7 else upper
        for method in ("auto", "greedy"):
            value = upper * (1 - draw.choice([0.0, 10.0 ** -draw.uniform(0.5, 13)]))
            others = {
                "upper_rank3": upper * draw.uniform(1, 1.2),
                "upper_epsnet": upper * draw.uniform(1.2, 1.4),
            }
            ratio = proved_ratio(value, upper)
            rows.append(
                {"method": method, "k": k, "value": value, "upper": upper, "ratio": ratio, "kind": "B4"}
                | {"seconds": 0.1, "epsnet_probability": 0.98765432, **others}
            )
    return pd.DataFrame(rows), scale * float(draw.uniform(0.95, 1.0)), 0.98765432


FRAMES = [made(seed) for seed in range(3)]
KS = [2, 5, 9]


def best_of(frame: pd.DataFrame, k: int) -> tuple[float, float]:
    """Return the largest value and the least bound at a k."""
    rows = frame[frame["k"] == k]
    return float(rows["value"].max()), float(rows["upper"].min())


def of_row(frame: pd.DataFrame, method: str, k: int) -> pd.Series:
    return frame[(frame["method"] == method) & (frame["k"] == k)].iloc[0]


def truths_of_sweep(frame, unit, chance, bounds):
    """Return what holds for each point of a figure of a sweep."""
    ceiling = 1.5 * frame["upper"].max()
    paper, rank3 = with_paper_bound(frame, ceiling), with_rank3_bound(frame, ceiling)

    def truth(trace, i):
        if trace.name == "gap":
            k = int(trace.customdata[i][0])
            chosen = paper if trace.line.color != colours.PROVED else frame
            value, upper = best_of(chosen, k)
            return Truth(upper, value, unit, chance)
        k = int(trace.x[i])
        name = "auto" if trace.name == "best found" else trace.name
        if name in ("auto", "greedy"):
            row = of_row(paper if bounds == "paper" else frame, name, k)
            return Truth(row.upper, row.value, unit, chance)
        if "2014" in trace.name or "rank-3" in trace.name:
            value, upper = best_of(paper if "2014" in trace.name else rank3, k)
            return Truth(upper, value, unit, chance)
        if trace.name.startswith("before"):
            row = frame[frame["k"] == k].sort_values("value", kind="stable").iloc[-1]
            return Truth(row.upper, row.value, unit)
        value, upper = best_of(frame, k)
        return Truth(upper, value, unit, chance)

    return truth, ceiling


def test_the_figure_of_a_sweep():
    walk = Walk()
    for (frame, unit, chance), bounds in zip(FRAMES, ("both", "ours", "paper"), strict=True):
        truth, ceiling = truths_of_sweep(frame, unit, chance, bounds)
        figure = sweep_figure(
            frame, unit=unit, bounds=bounds, ceiling=ceiling, before=(frame, unit, "before")
        )
        walk.figure(figure, truth)
        rows = with_paper_bound(frame, ceiling) if bounds == "paper" else frame
        least = min(Fraction(row.value) / Fraction(row.upper) for row in rows.itertuples())
        said = re.search(rf"Every value is at least ({NUMBER}) %", alt_text(figure))
        walk.guarantee(said[1], min(least, Fraction(1)), alt_text(figure))
    assert walk.bounds == 9 + 3 + 6 and walk.guarantees >= 30 and walk.values == 18, vars(walk)


def test_figures_of_a_comparison(monkeypatch):
    walk = Walk()
    look = {"ks": KS, "style": styles(["auto", "greedy"])}
    for frame, unit, _ in FRAMES:

        def truth(trace, i, frame=frame, unit=unit):
            value, upper = best_of(frame, int(trace.x[i]))
            methods = {rival_name(method): method for method in ("auto", "greedy")}
            if trace.name in methods:
                row = of_row(frame, methods[trace.name], int(trace.x[i]))
                value, upper = row.value, row.upper
            return Truth(upper, value, unit)

        walk.figure(values_figure(frame, unit=unit, unit_name="all", **look), truth)
        ratios = ratios_figure(frame, **look)
        walk.figure(ratios, truth)
        said_of = re.findall(rf"(auto|greedy) \([a-z ]+\) ({NUMBER}) %", alt_text(ratios))
        assert {method for method, _ in said_of} == {"auto", "greedy"}
        for method, said in said_of:
            rows = frame[frame["method"] == method]
            walk.guarantee(said, min(Fraction(r.value) / Fraction(r.upper) for r in rows.itertuples()))
        page = Page()
        monkeypatch.setattr(rivals, "st", page)
        monkeypatch.setattr("nspca.dashboard.app.tables.st", page)
        rivals._numbers(SimpleNamespace(table=frame))
        columns = [page.cell(name) for name in ("value", "ratio", "upper", "best")]
        for row, value, ratio, upper, best in zip(frame.itertuples(), *columns, strict=True):
            truth_of_row = Truth(row.upper, row.value)
            assert read_number(value) <= walk.bound(upper, "", truth_of_row)
            walk.guarantee(f"{float(100 * read_number(ratio))!r}", truth_of_row.ratio)
            assert read_number(best) < 1 or row.value == best_of(frame, row.k)[0]
    assert walk.bounds == 3 * (3 + 6) and walk.guarantees >= 3 * (6 + 2 + 6), vars(walk)


def check_row(walk: Walk, row, value: str, upper: str, proved: str) -> None:
    """Check the cells of a row: what is printed, and not what stands beside it in words."""
    truth = Truth(row.upper, row.value)
    assert read_number(value) <= walk.bound(upper, "", truth)
    if "proved up to rounding" in proved:
        assert 1 - truth.ratio <= Fraction(OPTIMAL_GAP)
    else:
        walk.text(proved, truth)


def test_the_report_of_a_sweep():
    walk = Walk()
    problem = SimpleNamespace(leading_eigenvalue=1.0)
    for frame, unit, _ in FRAMES:
        problem.leading_eigenvalue = unit
        for row, cells in zip(frame.itertuples(), archive.rows(problem, frame), strict=True):
            k, method, value, share, upper, rank3, paper, proved = cells
            assert (int(k), method) == (row.k, row.method)
            check_row(walk, row, value, upper, proved)
            walk.bound(rank3, "", Truth(row.upper_rank3, row.value))
            walk.bound(paper, "", Truth(row.upper_epsnet, row.value))
            assert abs(read_number(share) - 100 * Fraction(row.value) / Fraction(unit)) < Fraction(1, 10)
    assert walk.bounds == 3 * 6 * 3 and walk.guarantees >= 5, vars(walk)


def test_the_figure_of_a_gap():
    walk = Walk()
    for seed in range(12):
        draw = rng(seed)
        scale = 10.0 ** draw.uniform(-4, 8)
        unit = scale * float(draw.uniform(0.9, 1.1))
        upper = scale * np.minimum.accumulate(draw.uniform(0.5, 1, 9))
        lower = np.maximum.accumulate(upper.min() * (1 - 10.0 ** -draw.uniform(0.2, 9, 9)))
        names = {"steps_name": "seconds", "unit_name": "the total"}
        figure = gap_figure(lower, upper, list(range(9)), unit=unit, **names)
        walk.figure(figure, lambda trace, i, u=upper, v=lower, w=unit: Truth(float(u[i]), float(v[i]), w))
        last = Truth(float(upper[-1]), float(lower[-1]))
        for text in (alt_text(figure), figure.layout.annotations[0].text):
            walk.text(text, last)
    assert (walk.bounds, walk.guarantees, walk.values) == (108, 24, 108)


def test_cones_and_their_replay():
    walk = Walk()
    V, unit = rng(3).standard_normal((8, 3)), 3.7
    went = cone_replay.record(V, 2, True, 1e-3)
    world = sphere.globe(V, 2, resolution=8)
    data = cone_replay.replay_data(went, world, unit, 1e-3)
    json.dumps(data)
    for i, upper in enumerate(went.upper):
        truth = Truth(float(upper), float(went.lower[i]), unit)
        assert read_number(data["best"][i]) <= walk.bound(data["above"][i].removesuffix(" %"), "%", truth)
        walk.guarantee(data["proved"][i].removesuffix(" %"), truth.ratio)
    for said, bound in zip(data["exceeds"], went.bounds, strict=True):
        walk.bound(said.removesuffix(" %"), "%", Truth(float(bound), 0.0, unit))
    assert walk.bounds > len(went.bounds) and walk.guarantees >= len(went.upper)


# --- solved problems ------------------------------------------------------------------------------

SHAPES = ((9, 4, True, 1.0), (20, 7, False, 1e4), (6, 12, True, 3e-3), (30, 8, False, 1e9))


@pytest.fixture(scope="module")
def solved():
    """Return small random problems with a sweep, several components, and the membership of each feature."""
    found = []
    for seed, (m, n, nonneg, scale) in enumerate(SHAPES):
        X = scale * rng(seed).standard_normal((m, n)) @ np.diag(np.linspace(2, 1, n))
        problem = nspca.Problem.from_data(X, k=3, nonneg=nonneg)
        events: list[Event] = []
        with pytest.MonkeyPatch.context() as patch:
            if seed == 2:  # one problem whose bounds are not exact
                for effort, plan in PLANS.items():
                    patch.setitem(PLANS, effort, replace(plan, eigenvalues=0.0, branching=0.0))
            sweep = nspca.sweep(problem, [1, 2, 3], methods=("auto", "greedy"), report=events.append)
        joint = nspca.solve(problem.with_k(1), "joint", components=2, certify="fast")
        member = nspca.membership(problem, sweep["auto", 3], share=0.9, effort="fast")
        names = [f"feature {j}" for j in range(n)], [f"sample {i}" for i in range(m)]
        found.append((Dataset("a table", X, *names), problem, sweep, joint, member, events))
    return found


def of(result: nspca.Result, unit: float = 1.0) -> Truth:
    return Truth(result.certificate.upper, result.value, unit)


def test_notebooks_and_the_command_line(solved, capsys):
    walk = Walk()
    for dataset, problem, sweep, joint, _, events in solved:
        for result in [*sweep.results.values(), joint]:
            for text in (repr(result), repr(result.certificate), result._repr_html_()):
                walk.text(re.sub(r"<svg.*", "", text), of(result))
            walk.text(result.certificate.rounded(4).statement, of(result))
        least = min(Fraction(r.value) / Fraction(r.certificate.upper) for r in sweep.results.values())
        least = min(least, Fraction(1))
        for said in re.findall(rf"at least ({NUMBER}) %", repr(sweep)):
            walk.guarantee(said, least)
        top = max(r.certificate.upper for r in sweep.results.values())
        high = re.search(r'y="24" text-anchor="end">([^<]+)<', sweep._repr_html_())[1]
        least = [min(sweep[m, k].certificate.upper for m in ("auto", "greedy")) for k in (1, 2, 3)]
        assert read_number(high) >= Fraction(max(least))
        assert read_number(high) <= Fraction(top) * (1 + LOOSE)
        result = sweep["auto", 3]
        for line in answers.lines(dataset, problem, result, result.certificate, []):
            walk.text(line, of(result))
        text = as_text(sweep.frame).splitlines()[1:]
        for row, line in zip(sweep.frame.itertuples(), text, strict=True):
            _, _, _, upper, ratio, *_ = line.split()
            walk.bound(upper, "", Truth(row.upper, row.value))
            known = Truth(row.upper, row.value).ratio
            if ratio == "optimal":
                assert known >= 1 - OPTIMAL_GAP
            else:
                assert known - Fraction(1, 10**4) < read_number(ratio) <= known
        for event in events:
            if event.upper and event.lower is not None and 0 <= event.lower <= event.upper:
                walk.text(screen.event_line(event), Truth(event.upper, event.lower))
    assert walk.bounds >= 80 and walk.guarantees >= 60 and walk.values >= 50, vars(walk)
    assert walk.optimal >= 30


def test_pages_about_one_component(solved, monkeypatch):
    walk, optima = Walk(), 0
    for dataset, problem, sweep, _, member, _ in solved:
        for (_, k), result in sweep.results.items():
            page = Page()
            monkeypatch.setattr(optimal, "st", page)
            best = problem.leading_eigenvalue
            said = statement.state_result(dataset, problem.with_k(k), result, k)
            found, limit = (
                100 * Fraction(one) / Fraction(best) for one in (result.value, result.certificate.upper)
            )
            for text in (said.found, said.share_text, statement.bar(said).partition("found ")[2]):
                assert read_number(re.search(rf"({NUMBER}) %", text)[1]) <= found
            if said.most_text:
                for text in (said.limit, said.most_text, statement.bar(said).partition("limit ")[2]):
                    assert read_number(re.search(rf"({NUMBER}) %", text)[1]) >= min(100, limit)
            in_units = statement.numbers(problem.with_k(k), result, k)
            walk.text(in_units, of(result))
            assert in_units.endswith("that, up to rounding.") == (not said.most_text)
            optima += not said.most_text  # whose bound is not printed there
            answer = {"upper": result.certificate.upper, "seconds": 0.1, "refusal": ""}
            monkeypatch.setattr(attempts, "checked", lambda certificate, answer=answer: answer)
            optimal.verified(result, result.certificate, (best, "the leading eigenvalue"))
            walk.text(page.said[-1], of(result, best))
            walk.text(optimal._origin(result, result.certificate, 0.1), of(result))
            event = Event("search", lower=result.value, upper=result.certificate.upper)
            walk.text(optimal.progress_words(JobState("a", "running", event=event)), of(result))
            found = Found("auto", k, result.value, result.certificate.upper)
            now = SimpleNamespace(rows=(pack(found)["row"],), event=None)
            monkeypatch.setattr(sweep_page.progress, "waiting", lambda now: None)
            walk.text(sweep_page._says(now, 9), of(result))
            said = history_page._proof((result.ratio, result.ratio), True)[0]
            walk.text(said, of(result))
        check_membership(walk, member)
    assert walk.bounds + optima >= 24 * 3 and walk.guarantees >= 24 * 2 and walk.values >= 24, vars(walk)


def check_membership(walk: Walk, member: nspca.Membership) -> None:
    """Check the sentence, and what leaving out each feature costs at least and at most."""
    walk.text(membership.sentence("feature", member), Truth(member.upper, member.value))
    for lower, upper, (least, most) in zip(
        member.value_without, member.upper_without, member.cost_without, strict=True
    ):
        numbers = [read_number(said) for said in membership.cost_words(least, most).split(" to ")]
        exact = 100 * (1 - Fraction(float(upper)) / Fraction(member.value))
        at_most = 100 * (1 - Fraction(float(lower)) / Fraction(member.upper))
        assert numbers[0] <= max(exact, 0) or len(numbers) == 1
        assert numbers[-1] >= min(at_most, 100) - Fraction(1, 10**9)
        walk.bounds += 1


def test_pages_about_several_components(solved, monkeypatch):
    walk = Walk()
    for dataset, problem, sweep, joint, *_ in solved:
        total = problem.total_variance
        asked, sweep_of_two = ComponentsSpec(sizes=(1, 1), noun="part"), nspca.Sweep({("joint", 2): joint})
        data = SimpleNamespace(dataset=dataset, table=None)
        answer = Answer(data, asked, problem, sweep_of_two, (1, 1), "joint")
        page = Page()
        first, _ = joint_page.sentences(answer)
        shares = re.search(rf"({NUMBER}) % of the variance", first)[1]
        assert read_number(shares) <= 100 * joint.value / total
        share = re.search(rf"share ({NUMBER}) % of their variance", joint_page.headline(answer))
        assert share is None or read_number(share[1]) <= 100
        more = re.search(rf"explain ({NUMBER}) % more", joint_page.headline(answer))
        if more:
            gap = Fraction(joint.certificate.upper) / Fraction(joint.value) - 1
            assert read_number(more[1]) >= 100 * gap
            walk.bounds += 1
        walk.text(re.sub(r"<.*?>", " ", joint_everything._proved(answer)), of(joint, total))
        monkeypatch.setattr(joint_methods, "st", page)
        monkeypatch.setattr("nspca.dashboard.app.tables.st", page)
        joint_methods._table(answer)
        walk.guarantee(page.cell("least")[0].removesuffix(" %"), of(joint).ratio)
        figure = joint_methods.cumulative(answer)
        (bound,) = [
            text for trace, i, text in hovers(figure) if trace.name.startswith("nothing above") and not i
        ]
        walk.text(bound, of(joint, total))
        above = read_number(BOUND.search(bound)[1])
        drawn = [text for trace, _, text in hovers(figure) if trace.name.startswith("joint")]
        assert read_number(re.search(rf": ({NUMBER}) %", drawn[-1])[1]) <= above
        assert read_number(shares) <= above
        best, upper = Fraction(problem.leading_eigenvalue), Fraction(sweep["auto", 2].certificate.upper)
        painted = SimpleNamespace(
            problem=problem, result=sweep["auto", 2], upper=float(upper), best=float(best)
        )
        monkeypatch.setattr(screens, "painted", lambda of, pixels, mine=sweep["greedy", 2]: mine)
        said = screens._verdict(painted, [0])
        reached = list(map(read_number, re.findall(rf"\*\*({NUMBER}) %\*\*", said)))
        for share, value in zip(reached, (sweep["greedy", 2].value, sweep["auto", 2].value), strict=True):
            assert 0 <= 100 * Fraction(value) / best - share < 1
            walk.guarantees += 1
        most = re.search(rf"more than ({NUMBER}) %: proved", said)
        if most:  # no number where the best is proved
            assert 0 <= read_number(most[1]) - 100 * upper / best < 1
        walk.bounds += 1
    assert walk.bounds >= 4 * 3 and walk.guarantees >= 4 * 3, vars(walk)


def test_the_whole_report_of_solved_problems(solved):
    walk = Walk()
    for _, problem, sweep, *_ in solved:
        asked = SweepSpec(data=DataSpec(sample="lrs"), ks=(1, 2, 3), methods=("auto", "greedy"))
        table = sweep.frame.assign(upper_rank3=np.nan, upper_epsnet=np.nan, epsnet_probability=np.nan)
        body = archive.proved(problem, asked, table)
        lines = re.findall(r"<tr><td>(.*?)</tr>", body)
        for row, line in zip(table.itertuples(), lines, strict=True):
            cells = line.split("</td><td>")
            check_row(walk, row, cells[2], cells[4], cells[7])
    assert walk.bounds == 4 * 6 and walk.guarantees >= 1, vars(walk)


def test_a_walk_finds_what_was_wrong():
    """Bounds to nearest, and guarantees to nearest, are found: the walk can fail."""
    truth = Truth(1.00041, 0.9999997 * 1.00041, unit=2.0)
    for text in (
        "nothing above 1.000", "explains more than 50.02 %", "at least 100 % of the best possible",
        "at least 99.99999 %, proved", "The bound (the leading eigenvalue) is 1.000 for the same problem",
    ):  # fmt: skip
        with pytest.raises(AssertionError):
            Walk().text(text, truth)
    Walk().text("nothing above 1.001, more than 50.03 %, at least 99.9999 %", truth)
    assert replace(truth, value=2.0).ratio == 1
