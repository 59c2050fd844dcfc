"""Grammars from plain files."""

import pytest

from app.catalogue import ui_text
from app.document import DocumentError, DocumentFile, GrammarPart
from app.document import file as document_file


@pytest.mark.parametrize(
    ("name", "data", "grammar"),
    [
        ("a.gbnf", b'root ::= "a"\r\n', GrammarPart("gbnf", 'root ::= "a"\n')),
        ("b.JSON", b'\xef\xbb\xbf{"type": "integer"}\n', GrammarPart("json_schema", '{"type": "integer"}\n')),
        ("c.regex", b"a+\n", GrammarPart("regex", "a+")),
        ("d.txt", b"a\n\n", GrammarPart("regex", "a\n")),
    ],
)
def test_the_name_tells_the_notation(tmp_path, name, data, grammar):
    path = tmp_path / name
    path.write_bytes(data)
    assert not document_file.is_document(path)
    assert document_file.read_grammar(path) == DocumentFile(title=name[0], grammar=grammar)


SUFFIXES = ".turnstile, .regex, .re, .txt, .gbnf, .json, .jff, .dot, .gv"


@pytest.mark.parametrize(
    ("name", "data", "key", "fields"),
    [
        (
            "a.pdf",
            b"",
            "documents.file.unknown_kind",
            {"suffixes": SUFFIXES},
        ),
        ("a.gbnf", b"\xff", "documents.file.not_text", {"byte": 0}),
        (
            "a.regex",
            b"a" * 3_000_000,
            "documents.file.too_large",
            {"size": "3,000,000 bytes; the limit is 2,097,152"},
        ),
        ("missing.gbnf", None, "common.file.unreadable", {"reason": "No such file or directory"}),
    ],
)
def test_what_is_no_grammar_says_why(tmp_path, name, data, key, fields):
    path = tmp_path / name
    if data is not None:
        path.write_bytes(data)
    with pytest.raises(DocumentError) as caught:
        document_file.read_grammar(path)
    assert str(caught.value) == ui_text(key, name=name, **fields)


def test_a_document_is_one_by_its_content_too(tmp_path):
    path = tmp_path / "work.json"
    document_file.write_document(path, DocumentFile())
    assert document_file.is_document(path)
    path.write_text('{"type": "object"}')
    assert not document_file.is_document(path)
    assert document_file.is_document(tmp_path / "missing.turnstile")
    assert not document_file.is_document(tmp_path / "missing.json")
