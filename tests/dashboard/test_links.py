"""Addresses to give out lead to the open page with its settings, or to one run; never into a workspace."""

import pytest

from nspca.dashboard import share
from nspca.dashboard.app import links
from nspca.jobs import engine


def given(page) -> str:
    """Return everything in the box with the link, which the fixture `visit` opens."""
    address = next((code.value for code in page.code if code.language != "python"), "")
    return "\n".join([address, *(said.value for said in page.caption)])


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
    assert not page.exception and given(page).startswith(link) and share.OPENS in given(page)
    assert "a" * 22 not in given(page)


@pytest.mark.parametrize(("own", "pressed"), [(False, True), (True, True), (True, False)])
def test_an_answer_is_shared_alone(visit, arrive, finish, address, own, pressed):
    page = visit("pages/data.py", source="upload")
    if own:
        page.file_uploader[0].upload("t.csv", b"a,b,c\n1,2,1\n3,5,0\n4,4,2\n")
        page = page.run()
        assert share.ELSEWHERE in given(page)
    where = {**address(page), "source": ""} if own else {"sample": "pitprops"}
    page = arrive(**where, to=3, step=1)
    if pressed:
        page.button(key="run").click().run()
        page = finish(page)
    page.button(key="share_run").click().run()
    assert not page.exception and share.SHARED in given(page)
    link = given(page).partition("\n")[0]
    workspace = address(page)["w"]
    assert link.startswith("/shared?share=") and workspace not in link
    guest = visit("pages/shared.py", share=link.partition("share=")[2])
    assert not guest.exception and not guest.error and "w" not in guest.query_params
    assert "Data, NPZ" not in [button.proto.label for button in guest.get("download_button")]
    (run,) = engine().store.shares(workspace)
    assert run == address(page)["run"] and engine().status(run).state == "done"


def test_an_address_of_this_machine_alone_is_told_from_others():
    assert links.is_alone("http://localhost:8501/sweep") and links.is_alone("http://[::1]:1/")
    assert not links.is_alone("https://example.org/sweep")


@pytest.mark.parametrize("host", ["localhost:8501", "10.0.0.7:8600"])
def test_an_open_box_has_a_qr_code_of_an_address_that_others_can_open(visit, monkeypatch, host):
    monkeypatch.setattr(links, "address", lambda page: f"http://{host}/{page}")
    page = visit("pages/spannogram.py")
    assert given(page).startswith(f"http://{host}/spannogram")
    codes = [image.proto.imgs[0].alt for image in page.get("image")]
    assert codes == ["The link as a QR code"] * host.startswith("10")
    assert (share.ALONE in given(page)) == host.startswith("localhost") and "make app" not in given(page)
