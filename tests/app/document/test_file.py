"""Files of documents: what cannot be read or written, and the rights of what is written."""

import os

import pytest
from error_keys import raises_key

from app.document import DocumentError, DocumentFile, GrammarPart
from app.document import file as document_file
from engine.document.codec import SIZE_LIMIT


def test_what_is_written_is_read_again(tmp_path):
    path = tmp_path / "a.turnstile"
    document = DocumentFile(title="T", grammar=GrammarPart("regex", "é"))
    document_file.write_document(path, document)
    assert document_file.read_document(path) == document


def test_an_oversized_file_is_not_even_read(tmp_path):
    path = tmp_path / "huge.turnstile"
    with path.open("wb") as file:
        file.truncate(SIZE_LIMIT + 1)
    with raises_key(DocumentError, "documents.file.too_large"):
        document_file.read_document(path)


def test_a_missing_file_and_a_folder_are_refused(tmp_path):
    for path in (tmp_path / "none.turnstile", tmp_path):
        with raises_key(DocumentError, "common.file.unreadable"):
            document_file.read_document(path)


def test_a_write_that_fails_says_that_the_work_is_still_there(tmp_path):
    with raises_key(DocumentError, "documents.file.not_written"):
        document_file.write_document(tmp_path / "no" / "folder.turnstile", DocumentFile())


@pytest.mark.skipif(os.name == "nt", reason="Windows has other rights")
def test_a_document_can_be_read_by_others_and_keeps_its_rights(tmp_path):
    file = tmp_path / "a.turnstile"
    (tmp_path / "plain").write_bytes(b"")
    document_file.write_document(file, DocumentFile())
    assert file.stat().st_mode == (tmp_path / "plain").stat().st_mode
    file.chmod(0o640)
    document_file.write_document(file, DocumentFile())
    assert file.stat().st_mode & 0o777 == 0o640
