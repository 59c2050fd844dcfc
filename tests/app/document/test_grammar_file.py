"""Grammars from plain files."""

import pytest

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


@pytest.mark.parametrize(
    ("name", "data", "says"),
    [
        ("a.pdf", b"", "neither a document nor a grammar: Turnstile opens .turnstile, .gbnf"),
        ("a.gbnf", b"\xff", "not UTF-8 text"),
        ("a.regex", b"a" * 3_000_000, "too large (3,000,000 bytes"),
        ("missing.gbnf", None, "cannot be read: No such file"),
    ],
)
def test_what_is_no_grammar_says_why(tmp_path, name, data, says):
    path = tmp_path / name
    if data is not None:
        path.write_bytes(data)
    with pytest.raises(DocumentError) as caught:
        document_file.read_grammar(path)
    assert says in str(caught.value)


def test_a_document_is_one_by_its_content_too(tmp_path):
    path = tmp_path / "work.json"
    document_file.write_document(path, DocumentFile())
    assert document_file.is_document(path)
    path.write_text('{"type": "object"}')
    assert not document_file.is_document(path)
    assert document_file.is_document(tmp_path / "missing.turnstile")
    assert not document_file.is_document(tmp_path / "missing.json")
