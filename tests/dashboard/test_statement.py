"""The statement about one component: two sentences, a bar, and no number that claims more than is proved."""

import re
from dataclasses import replace

import numpy as np
import pytest

import nspca
from nspca.dashboard.views import statement

DIGITS = nspca.load_sample("digits")


def said(k, problem=None, certify="fast", data=DIGITS, **options):
    problem = nspca.Problem.from_data(data.X, k=k, **options) if problem is None else problem
    return statement.state_result(data, problem, nspca.solve(problem, certify=certify), k), problem


def test_the_model_sentence():
    one, problem = said(14)
    result = nspca.solve(problem, certify="fast")
    share, limit = 100 * result.value / problem.leading_eigenvalue, 100 * result.certificate.upper
    limit /= problem.leading_eigenvalue
    kept = r"These 14 pixels keep ([\d.]+) % of what all 64 pixels show in the main direction\."
    first, nobody = (
        re.fullmatch(kept, one.found),
        r"No 14 pixels with nonnegative weights keep more than ([\d.]+) %: proved\.",
    )
    second = re.fullmatch(nobody, one.limit)
    assert share - 1 < float(first[1]) <= share and limit <= float(second[1]) < limit + 1
    assert one.share <= one.most and one.share_text == f"{first[1]} %" and one.most_text == f"{second[1]} %"


def test_one_feature_is_said_in_the_singular_and_what_is_optimal_as_such():
    one, _ = said(1)
    assert one.text.startswith("This pixel is the best one: proved. It keeps ")
    assert not one.most_text and "limit" not in statement.bar(one)


def test_weights_of_any_sign_and_kept_features():
    assert " with " not in said(5, nonneg=False)[0].limit
    kept, _ = said(5, forced=(20, 21))
    assert "No 5 pixels that include the 2 pixels you kept with nonnegative weights keep" in kept.limit


def test_without_a_proof_there_is_no_limit():
    one, problem = said(5, certify=None)
    assert one.limit == "" and one.most is None and "limit" not in statement.bar(one)
    assert "can explain more" not in statement.numbers(problem, nspca.solve(problem, certify=None), 5)


def test_in_units_of_the_data_an_optimal_component_leaves_no_room_above_it():
    problem = nspca.Problem.from_covariance(nspca.load_sample("pitprops").X, k=1)
    best = nspca.solve(problem)
    assert "a variance of 1.000" in (said := statement.numbers(problem, best, 1))
    assert said.endswith("with at most 1 feature can explain more than that, up to rounding.")


@pytest.mark.parametrize("upper", [1.0, 1.3, 1e6])
def test_the_bar_never_ends_before_what_was_found_or_after_its_end(upper):
    problem = nspca.Problem.from_data(DIGITS.X, k=5)
    result = nspca.solve(problem, certify="fast")
    certificate = replace(result.certificate, upper=upper * result.value)
    one = statement.state_result(DIGITS, problem, result.with_certificate(certificate), 5)
    widths = [float(width) for width in re.findall(r"height:0\.8rem;width:([\d.]+)%", statement.bar(one))]
    assert np.isclose(sum(widths), 100, atol=0.02) and min(widths) > 0
    assert one.most <= 1


def test_a_problem_without_variance():
    A = np.zeros((3, 3))
    problem = nspca.Problem.from_covariance(A, 2)
    one = statement.state_result(nspca.load_sample("pitprops"), problem, nspca.solve(problem), 2)
    assert (one.share == 0 and "0 %" in one.found) or "0.0 %" in one.found


def test_the_limit_for_any_number_of_features_is_a_bound_on_all_of_them():
    """The mark on the bar holds for every k, and no nonnegative component is above it."""
    data = nspca.load_sample("pitprops")
    problem = nspca.Problem.from_covariance(data.X, 13)
    sweep = nspca.sweep(problem, range(1, 14))
    table = sweep.frame
    ceiling = statement.ceiling_of(table, 13)
    best = max(sweep["auto", k].value for k in range(1, 14))
    points = np.abs(np.random.default_rng(0).standard_normal((2000, 13)))
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    assert max(best, np.einsum("ij,jk,ik->i", points, data.X, points).max()) <= ceiling
    one = statement.state_result(data, problem.with_k(3), sweep["auto", 3], 3, ceiling=ceiling)
    text = re.search(r"any number with nonnegative weights: at most ([\d.]+) %", one.ceiling_text)
    assert ceiling <= float(text[1]) / 100 * problem.leading_eigenvalue
    assert one.ceiling_text in statement.bar(one) and "all 13 features: 100 %" in statement.bar(one)
    assert statement.ceiling_of(table[table["k"] < 13], 13) == np.inf


def test_the_smaller_of_two_limits_is_the_limit_and_stands_alone():
    """A search at this k may prove less than one for any number of features has proved."""
    problem = nspca.Problem.from_data(DIGITS.X, k=30)
    result = nspca.solve(problem, certify="fast")
    ceiling, best = 1.001 * result.value, problem.leading_eigenvalue
    loose = result.with_certificate(replace(result.certificate, upper=1.002 * result.value))
    one = statement.state_result(DIGITS, problem, loose, 30, ceiling=ceiling)
    assert one.most is not None and ceiling / best <= one.most < 1.0011 * result.value / best
    assert one.most_text in statement.bar(one)
    assert one.ceiling is None and "at most" not in statement.bar(one)
    closer = statement.state_result(DIGITS, problem, loose, 30, upper=ceiling)
    assert closer.most == one.most, "what a search has proved so far counts"


def test_there_is_no_such_limit_where_it_says_nothing():
    data = nspca.load_sample("pitprops")
    signed = nspca.Problem.from_covariance(data.X, 3, nonneg=False)
    one = statement.state_result(data, signed, nspca.solve(signed), 3, ceiling=1.0)
    assert one.ceiling is None
    assert one.everything == "all 13 features: 100 %"
    assert "the main direction of all features has 32.5 %" in statement.numbers(
        signed, nspca.solve(signed), 3
    )
    every = nspca.Problem.from_covariance(data.X, 13)
    one = statement.state_result(data, every, nspca.solve(every), 13, ceiling=4.0)
    assert one.ceiling is None and "any number" not in statement.bar(one)


@pytest.mark.parametrize("k", [3, 5, 8, 10, 14])
def test_a_reader_who_divides_the_numbers_never_gets_more_than_is_proved(k):
    problem = nspca.Problem.from_data(DIGITS.X, k=k)
    result = nspca.solve(problem, certify="fast")
    if result.ratio > 0.999:  # proved optimal: no limit is printed
        weaker = replace(result.certificate, upper=(1 + 0.01 * k) * result.certificate.upper)
        result = result.with_certificate(weaker)
    one = statement.state_result(DIGITS, problem, result, k)
    found, limit = (float(text.removesuffix(" %")) for text in (one.share_text, one.most_text))
    assert result.ratio - 0.005 < found / limit <= result.ratio


def test_a_component_that_uses_fewer_features_than_allowed_says_so():
    one, _ = said(64)
    used = np.count_nonzero(nspca.solve(nspca.Problem.from_data(DIGITS.X, k=64)).components)
    assert used < 64 and one.text.startswith(f"These {used} pixels of the 64 allowed ")
