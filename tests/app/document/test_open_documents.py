"""Several documents, of which one is shown: each keeps its own content, and every one is autosaved."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.document import Autosave, Document, DocumentFile, GrammarPart
from app.document.autosave import read_saved
from engine.document.codec import encode


def text(content: str) -> DocumentFile:
    return DocumentFile(grammar=GrammarPart("regex", content))


@pytest.fixture
def document(qtbot: QtBot, tmp_path: Path) -> Iterator[Document]:
    document = Document(Autosave(tmp_path / "autosave"))
    document.replace(text("first"))
    yield document
    document.close()


def texts_of(document: Document) -> list[str]:
    return [one.content.grammar.text for one in document.documents]


def autosaved(document: Document, tmp_path: Path) -> dict[str, bool]:
    """Return the texts that would be recovered, and whether each has unsaved edits."""
    document.save_for_next_start("test")
    files = sorted((tmp_path / "autosave").glob("*.autosave"))
    found = [read_saved(file.read_bytes(), file.name) for file in files]
    return {one.document.grammar.text: one.is_modified for one in found}


def test_each_document_keeps_its_own_edits(document, tmp_path):
    first, second = document.shown, document.add(text("second"))
    assert document.content.grammar.text == "first", "a document that is added is not shown by itself"
    document.set_text("first edited")
    document.show(second)
    assert (document.content.grammar.text, document.is_modified) == ("second", False)
    document.save(tmp_path / "second.turnstile")
    document.show(first)
    assert (document.content.grammar.text, document.is_modified, document.path) == ("first edited", True, None)
    assert [one.title for one in document.documents] == ["Untitled", "second"]


def test_showing_a_document_is_a_new_revision_that_panes_are_told_of(document):
    told: list[tuple[str, str, int]] = []
    document.leaving.connect(lambda: told.append(("leaving", document.content.grammar.text, document.revision)))
    document.replaced.connect(lambda: told.append(("replaced", document.content.grammar.text, document.revision)))
    first, second = document.shown, document.add(text("second"))
    before = document.revision
    document.show(second)
    document.show(second)
    document.show(first)
    assert told == [
        ("leaving", "first", before),
        ("replaced", "second", before + 1),
        ("leaving", "second", before + 1),
        ("replaced", "first", before + 2),
    ]


def test_what_panes_keep_is_that_of_one_document_until_another_takes_its_place(document):
    first, second = document.shown, document.add(text("second"))
    document.kept["pane"] = 1
    document.show(second)
    assert document.kept == {}
    document.show(first)
    assert document.kept == {"pane": 1}
    document.replace(text("third"))
    assert document.kept == {}
    assert texts_of(document) == ["third", "second"]


def test_input_that_is_not_active_yet_becomes_an_edit_of_the_document_that_is_left(document):
    first, second = document.shown, document.add(text("second"))
    document.draft(prompt="half a prom")
    document.show(second)
    assert (document.content.prompt, document.shown.drafts) == ("", {})
    assert (first.content.prompt, first.is_modified) == ("half a prom", True)


def test_documents_are_opened_beside_the_shown_one_moved_and_closed(document):
    second = document.add(text("second"))
    third = document.add(text("third"))
    assert texts_of(document) == ["first", "third", "second"]
    document.move(second, 0)
    assert texts_of(document) == ["second", "first", "third"]
    document.close_one(document.shown)
    assert (texts_of(document), document.shown) == (["second", "third"], third)
    document.close_one(third)
    assert (texts_of(document), document.shown) == (["second"], second)


def test_all_of_several_documents_are_autosaved(document, tmp_path):
    second = document.add(text("second"))
    document.show(document.add(text("third")))
    document.set_text("third edited")
    assert autosaved(document, tmp_path) == {"first": False, "second": False, "third edited": True}
    document.close_one(second)
    document.add(text("fourth"))
    assert autosaved(document, tmp_path) == {"first": False, "third edited": True, "fourth": False}


def test_a_clean_end_leaves_no_autosave(document, tmp_path):
    document.show(document.add(text("second")))
    document.set_text("second edited")
    document.close_one(document.documents[0])
    document.close()
    assert list((tmp_path / "autosave").iterdir()) == []


def test_a_file_is_opened_beside_the_others(document, tmp_path):
    path = tmp_path / "work.turnstile"
    path.write_bytes(encode(text("from a file")))
    document.show(document.add(DocumentFile()))
    document.open(path)
    assert texts_of(document) == ["first", "from a file"]
    assert [one.path for one in document.documents] == [None, path]
