"""Values found by exhaustive search (pitprops) and by search (the papers' data sets, where they are at
hand).
"""

import pytest

import nspca

PITPROPS = [
    1,
    1.954,
    2.47533,
    2.93748,
    3.40615,
    3.77096,
    3.99619,
    4.06861,
    4.13865,
    4.17264,
    4.20828,
    4.21825,
    4.21863,
]


@pytest.fixture(scope="module")
def pitprops():
    return nspca.load_sample("pitprops").X


@pytest.mark.parametrize("k", range(1, 14))
def test_pitprops_optimum_is_found_and_bounded(pitprops, k):
    signed = nspca.solve(nspca.Problem.from_covariance(pitprops, k, nonneg=False))
    assert round(signed.value, 5) == PITPROPS[k - 1] <= round(signed.certificate.upper, 4) + 1e-4
    nonneg = nspca.solve(nspca.Problem.from_covariance(pitprops, k))
    assert round(nonneg.value, 5) == (PITPROPS[k - 1] if k <= 9 else 4.14411)
    assert nspca.verify(pitprops, nonneg.certificate) >= nonneg.value


@pytest.mark.parametrize(
    ("name", "k", "value", "ratio"),
    [
        ("lrs", 20, 0.8869, 0.99),
        ("cbcl", 40, 0.2351, 0.92),
        ("cbcl", 180, 0.683, 0.985),
        ("leukemia", 50, 0.2305, 0.59),
    ],
)
def test_real_data(nspca_data, monkeypatch, name, k, value, ratio):
    monkeypatch.setenv("NSPCA_DATA", str(nspca_data))
    data = nspca.load_sample(name)
    assert data.source == "real"
    problem = nspca.Problem.from_data(data.X, k)
    result = nspca.solve(problem)
    assert result.value / problem.leading_eigenvalue >= value
    assert result.ratio >= ratio
    assert nspca.verify(data.X, result.certificate) <= result.certificate.upper
