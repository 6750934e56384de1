"""Home: a component with its proof before anybody has done anything."""

import json

from nspca.jobs import engine


def figure(page, index):
    return json.loads(page.get("plotly_chart")[index].proto.spec)


def test_the_first_minute(visit, texts, alts):
    page = visit()
    assert not page.exception and not page.error
    assert "of the best possible, proved" in texts(page)
    assert texts(page).count("\n- ") == 3, "what you see, in three lines"
    assert any("8 × 8 image: 8 of 64 features used" in alt for alt in alts(page))
    assert any("% of the best possible" in alt for alt in alts(page))
    assert "w" not in page.query_params and not engine().store.list_uploads("")


def test_the_slider_moves_the_component_and_the_address(visit, alts, address):
    page = visit()
    page.slider[0].set_value(3).run()
    assert any("3 of 64 features used" in alt for alt in alts(page))
    assert address(page)["digit_k"] == "3"
    again = visit(digit_k=3)
    assert again.slider[0].value == 3 and alts(again) == alts(page)


def test_an_address_somebody_edited(visit):
    for k, shown in (("0", 1), ("9999", 20), ("many", 8), ("-1", 8)):
        page = visit(digit_k=k)
        assert not page.exception and not page.error and page.slider[0].value == shown


def test_the_statement_is_recomputed_from_the_result(visit, texts):
    """The number on the page is the certificate's ratio, rounded down."""
    import nspca
    from nspca.dashboard.shell.words import proof

    data = nspca.load_sample("digits")
    result = nspca.sweep(nspca.Problem.from_data(data.X, k=1), range(1, 6))["auto", 5]
    assert proof(result.ratio)[1:] in texts(visit(digit_k=5))
