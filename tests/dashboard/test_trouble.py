"""Every page states trouble of the server in one sentence, and is nothing that a worker process runs."""

import sys

from nspca.dashboard.app import frame
from nspca.errors import JobError
from nspca.jobs import engine

PAGE = "pages/learn.py"


def test_trouble_with_the_store_is_said_before_anybody_works(visit, monkeypatch, sentence):
    assert not visit(PAGE).error
    said = "The store cannot be used (disk image is malformed): repair it."
    monkeypatch.setattr(type(engine()), "trouble", property(lambda engine: said))
    assert "disk image is malformed" in sentence(visit(PAGE))


def test_a_store_that_cannot_be_opened_is_said(visit, monkeypatch, sentence):
    def closed():
        raise JobError("The store cannot be used (attempt to write a readonly database).")

    monkeypatch.setattr(frame, "engine", closed)
    said = sentence(visit(PAGE))
    assert "Nothing can be computed or kept just now" in said and "readonly database" in said


def test_a_store_that_was_deleted_is_said(visit, monkeypatch, sentence):
    monkeypatch.setattr(engine().store, "_file", (0, 0))
    assert "was deleted or replaced while this server runs" in sentence(visit(PAGE))


def test_a_new_worker_process_does_not_run_the_page_that_is_the_main_module(visit):
    visit(PAGE)
    assert vars(sys.modules["__main__"]).get("__spec__") is None, "Streamlit has put the page there"
    assert not hasattr(sys.modules["__main__"], "__file__")
