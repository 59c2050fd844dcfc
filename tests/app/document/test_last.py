"""What was open last."""

from app.document import DocumentFile, GrammarPart, last_document


def test_it_is_kept_and_read_again(tmp_path):
    place = tmp_path / "new" / "session.json"
    assert last_document.read(place) is None
    document = DocumentFile(grammar=GrammarPart("gbnf", 'root ::= "é"'))
    last_document.write(place, tmp_path / "a.turnstile", document)
    found = last_document.read(place)
    assert found is not None
    assert (found.path, found.document) == (str(tmp_path / "a.turnstile"), document)
    last_document.write(place, None, None)
    found = last_document.read(place)
    assert found is not None
    assert (found.path, found.document) == ("", None)


def test_what_is_damaged_is_as_if_it_were_not_there(tmp_path, caplog):
    place = tmp_path / "session.json"
    broken = b'{"path": "", "saved_at": 1, "document": {"trace": {"path": [1]}}}'
    for data in (b"", b"[1]", broken):
        place.write_bytes(data)
        assert last_document.read(place) is None
    assert caplog.text.count("cannot be read") == 3
    place.write_bytes(b'{"path": "", "saved_at": 1, "document": {"format": "turnstile", "version": 99}}')
    assert last_document.read(place) is None, "of a later Turnstile"


def test_a_place_that_cannot_be_written_costs_a_line_in_the_log(tmp_path, caplog):
    (tmp_path / "file").write_text("")
    last_document.write(tmp_path / "file" / "session.json", None, None)
    assert "cannot be kept" in caplog.text
