"""Addresses to give out lead to the open page with its settings, and never into a workspace."""

import pytest

from nspca.dashboard.app import links


def given(page) -> str:
    """Return everything in the box with the link, after it is opened."""
    page.session_state["give"] = True
    page.run()
    (box,) = [one for one in page.sidebar.expander if one.label == "Link for others"]
    return "\n".join([*(code.value for code in box.code), *(said.value for said in box.caption)])


@pytest.mark.parametrize(
    ("path", "values", "link"),
    [
        ("app.py", {}, "/\n"),
        ("pages/spannogram.py", {"sample": "pitprops", "k": 3}, "/spannogram?sample=pitprops&k=3\n"),
        ("pages/sweep.py", {"sample": "pitprops", "signed": 1}, "/sweep?sample=pitprops&signed=1\n"),
        ("pages/learn.py", {"screen": 3}, "/learn?screen=3\n"),
        ("pages/learn.py", {"screen": 3, "guess": 40, "painted": "1,2", "judge": 1}, "/learn?screen=3\n"),
    ],
)
def test_a_link_has_the_settings_and_not_the_workspace(visit, path, values, link):
    page = visit(path, w="a" * 22, **values)
    assert not page.exception and given(page).startswith(link)
    assert "a" * 22 not in given(page)


def test_a_link_names_no_run(visit, finish):
    page = visit("pages/sweep.py", sample="pitprops", to=3, step=1)
    page.button(key="run").click().run()
    page = finish(page)
    assert f"{links.OPENS} {links.SHARE}" in given(page)
    assert "run=" not in given(page) and "w=" not in given(page) and "sample=pitprops" in given(page)


def test_data_of_a_workspace_have_no_link(visit):
    page = visit("pages/data.py", source="upload")
    page.file_uploader[0].upload("t.csv", b"a,b\n1,2\n3,5\n4,4\n")
    page = page.run()
    assert given(page) == links.ELSEWHERE


def test_an_address_of_this_machine_alone_is_told_from_others():
    assert links.is_alone("http://localhost:8501/sweep") and links.is_alone("http://[::1]:1/")
    assert not links.is_alone("https://example.org/sweep")


@pytest.mark.parametrize("host", ["localhost:8501", "10.0.0.7:8600"])
def test_an_open_box_has_a_qr_code_of_an_address_that_others_can_open(visit, monkeypatch, host):
    monkeypatch.setattr(links, "address", lambda page: f"http://{host}/{page}")
    page = visit("pages/spannogram.py")
    (box,) = [one for one in page.sidebar.expander if one.label == "Link for others"]
    assert not box.children
    assert given(page).startswith(f"http://{host}/spannogram")
    codes = [image.proto.imgs[0].alt for image in page.sidebar.get("image")]
    assert codes == ["The link as a QR code"] * host.startswith("10")
