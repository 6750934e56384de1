"""Write sample_data/answers: the first answers of the pages Home and Components.

    python -m scripts.answers

Asks the usual question of each page about the samples in `STORED`, as a worker would answer it. Makes the
proofs small (`scripts.lean`), checks each, and stores the answers. Run it again after a change of a usual
question, a method or a sample. A test fails when the stored answers do not fit today's questions.
"""

import argparse
import logging
import sys
import time
from collections.abc import Iterator
from dataclasses import replace

import nspca
from nspca.dashboard import home, open_data
from nspca.dashboard.joint import form as joint_form
from nspca.dashboard.open_data import Chosen
from nspca.dashboard.runs import first_answer
from nspca.dashboard.runs.first_answer import StoredAnswer
from nspca.errors import CertificateError
from nspca.presentation.numerals import OPTIMAL_GAP
from nspca.proving import TOLERANCE_GAP
from nspca.specs import DataSpec, ProblemSpec
from scripts.lean import lean

STORED = {
    "sweep": ("digits",),
    "components": ("orl-faces", "all-aml", "coffee", "state-of-the-union"),
}
"""Samples with a stored answer, by the kind of question: those that take a worker more than two seconds."""
LARGEST, FEWER = 900_000, 9
"""Bytes of a proof above which its W has only so many binary digits."""
GAPS = {nspca.Status.OPTIMAL: OPTIMAL_GAP, nspca.Status.WITHIN_TOLERANCE: TOLERANCE_GAP}


def questions(kinds=tuple(STORED)) -> Iterator[tuple[str, Chosen, ProblemSpec]]:
    """Yield sample, data and usual question of every stored answer of some kinds."""
    for kind in kinds:
        for name in STORED[kind]:
            of = open_data.find(DataSpec(sample=name), None)
            yield name, of, (home.question if kind == "sweep" else joint_form.usual)(of)


def answered(of: Chosen, asked: ProblemSpec) -> StoredAnswer:
    """Return what a worker makes of a question, with light proofs, each of them checked."""
    spec, started = asked.numbers_only(), time.time()
    sweep = spec.run(X=of.dataset.X)
    seconds = time.time() - started
    proofs = {id(result.certificate): result.certificate for result in sweep.results.values()}
    light = {key: _checked(of, asked, proof) for key, proof in proofs.items()}
    results = {}
    for key, result in sweep.results.items():
        proof = light[id(result.certificate)]
        if result.status in GAPS and 1 - proof.ratio(result.value) > GAPS[result.status]:
            raise CertificateError(f"{result.method}: the light proof is too loose for {result.status.name}")
        results[key] = result.with_certificate(proof)
    times = round(started + seconds), round(seconds, 2)
    return StoredAnswer(of.content, spec.to_plain(), *times, nspca.Sweep(results))


def _checked(of: Chosen, asked: ProblemSpec, proof: nspca.Certificate) -> nspca.Certificate:
    problem = replace(open_data.problem_of(of, asked), k=proof.k)
    light = lean(problem, proof)
    if len(light.to_bytes()) > LARGEST:
        light = lean(problem, proof, FEWER)
    nspca.verify(of.dataset.X, light)
    return light


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("kinds", nargs="*", default=tuple(STORED), help="all of them when none is named")
    kinds = parser.parse_args().kinds
    logging.disable(logging.WARNING)  # Streamlit's caches miss their server
    for name, of, asked in questions(kinds):
        content = answered(of, asked).to_bytes()
        file = first_answer.file_of(asked, name)
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(content)
        sys.stdout.write(f"{file.name}: {len(content):,} bytes\n")


if __name__ == "__main__":
    main()
