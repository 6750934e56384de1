"""Format an answer as text, JSON and a table. The commands `solve` and `certify` call `print_answer`."""

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nspca.cli.screen import clear, say, say_json, write_csv
from nspca.cli.sources import about
from nspca.presentation.numerals import proof_phrase

if TYPE_CHECKING:
    from nspca.certificate import Certificate
    from nspca.cli.sources import Source
    from nspca.problem import Problem
    from nspca.result import Result
    from nspca.selection.answers import Answers
    from nspca.selection.membership import Membership

COLUMNS = ("component", "feature", "weight")
KNOWN = ("place", "costs_at_least", "costs_at_most")
"""Columns about the membership of each feature, after those of a table of weights."""


def print_answer(
    args: argparse.Namespace,
    dataset: "Source",
    problem: "Problem",
    result: "Result",
    known: "Membership | None" = None,
    others: "Answers | None" = None,
) -> int:
    """Print an answer and save the requested files; return the exit status 0.

    With `known`, the membership of every feature is included, and with `others` what is proved of them.

    The answer is printed and saved even when a file cannot be written or the reader of a pipe has closed it.
    """
    certificate = result.certificate
    assert certificate is not None  # every effort of the command line makes a certificate
    from nspca.data.names import printable

    clear()
    margin = result.others if others is None else others.certificate
    proofs = {}
    if args.certificate:
        proofs[args.certificate] = "certificate", certificate
        if known is not None and known.certificate is not certificate:
            where = beside(args.certificate, "features")
            proofs[where] = "what is proved of each feature", known.certificate
        if margin is not None:
            proofs[beside(args.certificate, "others")] = "what is proved of other sets", margin
    found = [described(dataset, result, known, j) for j in range(result.components.shape[1])]
    alone: dict[str, Any] = {}
    if others is not None:
        alone = listing(dataset, others)
    elif result.others is not None:
        alone = {"proved": result.alone, "rest": result.others.upper}
    try:
        if args.json:
            features = {"components": found} if problem.joint else {"features": found[0]}
            listed = {"others": alone} if alone else {}
            say_json(summary(dataset, problem, result, certificate) | features | listed)
        else:
            for line in lines(dataset, problem, result, certificate, found):
                say(line)
            if known is not None:
                left = sum(place.name == "NONE" for place in known.places)
                least = f"at least {args.within:.15g} % of the optimum"
                say(f"in every, in none ({left} features): of all answers that explain {least}")
            if alone.get("proved"):
                say(alone["proved"])
            for one in alone.get("sets", [])[1:]:
                without, instead = (", ".join(map(printable, one[side])) for side in ("without", "instead"))
                say(f"  {one['value']:.6g}  without {without or 'any'}, instead {instead or 'nothing'}")
    finally:
        for path, (_, proof) in proofs.items():
            proof.of_prepared(dataset.prepared).save(path)
        if args.csv:
            rows = (
                {"component": number, "feature": one["name"], **one}
                for number, features in enumerate(found, 1)
                for one in features
            )
            write_csv(args.csv, (*COLUMNS, *(KNOWN if known is not None else ())), rows, dataset.name)
    if not args.json:
        for path, (what, _) in proofs.items():
            say(f"{what}: {path}")
        if args.csv:
            say(f"table: {args.csv}")
    return 0


def lines(
    dataset: "Source",
    problem: "Problem",
    result: "Result",
    certificate: "Certificate",
    found: list[list[dict[str, Any]]],
) -> Iterator[str]:
    """Yield the lines of the text form of an answer; `found` has the features of each component."""
    from nspca.data.names import printable

    quality = proof_phrase(certificate.ratio(result.value), certificate.label)
    yield f"{dataset.name}: value {result.value:.6g}, {quality}"
    yield certificate.rounded(6).stated(dataset.feature_names)
    for number, features in enumerate(found, 1):
        if problem.joint:
            yield f"component {number}: {result.values[number - 1]:.6g}"
        width = max((len(printable(one["name"])) for one in features if "place" in one), default=0)
        for one in features:
            name = printable(one["name"])
            yield f"  {one['weight']:+.4f}  {name:<{width}}  {one.get('place', '')}".rstrip()


def beside(path: str, what: str) -> str:
    """Return the path for a further certificate, about features or about other sets."""
    file = Path(path)
    return str(file.with_name(f"{file.stem}-{what}{file.suffix}"))


def listing(dataset: "Source", others: "Answers") -> dict[str, Any]:
    """Return the JSON fields of a list of good answers."""
    names, sets = dataset.feature_names, []
    for number, (features, value) in enumerate(zip(others.supports, others.values.tolist(), strict=True)):
        out, into, _ = others.exchanges(number)
        sides = {"features": features, "without": out, "instead": into}
        sets.append({"value": value} | {side: [names[j] for j in own] for side, own in sides.items()})
    return {"proved": others.stated(names), "rest": others.rest, "sets": sets}


def described(
    dataset: "Source", result: "Result", known: "Membership | None", number: int
) -> list[dict[str, Any]]:
    """Return the features of a component with weights, largest first, and their membership if `known`."""
    component = result.components[:, number]
    features = []
    for i in sorted(component.nonzero()[0].tolist(), key=lambda i: -abs(component[i])):
        feature: dict[str, Any] = {"name": dataset.feature_names[i], "weight": float(component[i])}
        if known is not None:
            feature |= dict(zip(KNOWN, (known.places[i].value, *known.cost_without[i]), strict=True))
        features.append(feature)
    return features


def summary(
    dataset: "Source", problem: "Problem", result: "Result", certificate: "Certificate"
) -> dict[str, Any]:
    """Return the JSON fields of an answer besides its features."""
    return {
        **about(dataset),
        "prepared": list(dataset.prepared),
        "method": result.method,
        "k": list(problem.k) if isinstance(problem.k, tuple) else problem.k,
        "nonneg": problem.nonneg,
        "forced": [dataset.feature_names[j] for j in problem.forced],
        "of": certificate.source,
        "center": certificate.center,
        "scale": certificate.scale,
        "value": result.value,
        "upper": certificate.upper,
        "ratio": certificate.ratio(result.value),
        "kind": certificate.kind,
        "proved": certificate.stated(dataset.feature_names),
        "status": result.status.name,
        "seconds": result.seconds,
    }
