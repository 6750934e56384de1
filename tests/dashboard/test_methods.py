"""Forms offer the methods that can solve the chosen problem, and no other; pages say of each what the package
says.
"""

import itertools
from html import unescape

import numpy as np
import pytest

import nspca
from nspca.dashboard.runs import methods
from nspca.solving import line_of
from nspca.specs.components import DEFAULT
from nspca.specs.sweep import COMPARED

FORMS = {
    "sweep": ("sample", "methods"),
    "components": ("sample", "by"),
}


def expected(sample: str, signed: bool, center: bool) -> set[str]:
    data = nspca.load_sample(sample)
    make = nspca.Problem.from_covariance if data.is_covariance else nspca.Problem.from_data
    problem = make(data.X, 1, not signed, **({} if data.is_covariance else {"center": center}))
    return {name for name in ("auto", *nspca.METHODS) if line_of(name).refusal(problem) is None}


QUICK = [("sweep", "pitprops", 0), ("sweep", "pitprops", 1), ("components", "digits", 0)]
QUICK += [("components", "pitprops", 1), ("components", "state-of-the-union", 0)]
VISITS = itertools.product(FORMS, ("digits", "all-aml", "pitprops", "state-of-the-union"), (0, 1))


@pytest.mark.parametrize(
    ("page", "sample", "signed"),
    [*QUICK, *(pytest.param(*one, marks=pytest.mark.visit) for one in VISITS if one not in QUICK)],
)
def test_a_form_offers_exactly_those_that_can(visit, stand_ins, page, sample, signed):
    data, field = FORMS[page]
    shown = visit(f"pages/{page}.py", **{data: sample, "signed": signed})
    assert not shown.exception and not shown.error
    able = expected(sample, bool(signed), center=field != "by" or not sample.startswith("state"))
    able -= {"auto"} if field == "by" else set()  # of sizes, auto is joint, which is there
    assert set(shown.multiselect(key=f"widget_{field}").options) == {methods.label(name) for name in able}


def test_a_method_that_cannot_is_named_with_the_sentence_of_the_package(arrive, texts):
    said = unescape(texts(arrive(sample="pitprops", ks="2"))).replace("**", "")
    problem = nspca.Problem.from_covariance(nspca.load_sample("pitprops").X, 1)
    refused = [sentence for line in nspca.METHODS.values() if (sentence := line.refusal(problem))]
    assert len(refused) == 3 and all(sentence in said for sentence in refused)


def test_what_is_selected_before_anybody_chose_can_always_run():
    for problem in (nspca.Problem.from_covariance(np.eye(4), 2, nonneg) for nonneg in (True, False)):
        assert all(line_of(name).refusal(problem) is None for name in {*COMPARED, *DEFAULT})
    assert nspca.METHODS[DEFAULT[0]].joint
    assert (
        methods.label("pca") == "pca (baseline)"
        and methods.label("auto") == "best found (auto)"
        and methods.baselines() == ["spca", "nmf", "pca"]
    )
    assert methods.how("coordinate") == "at once" and methods.how("em") == "one by one"
