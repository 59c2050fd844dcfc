import json
import os

import pytest

from app.document import AutomatonPart, DocumentError, DocumentFile, GrammarPart, ModelPart
from app.document import file as document_file
from engine.compile import CompileOptions
from engine.decoding.pipeline_settings import (
    Afterwards,
    OtherZone,
    PipelineSettings,
    Strategy,
    TableSettings,
    ZoneSettings,
)
from engine.decoding.values import ArchivedBranch, Chat, SamplerSettings, Step, Trace, TraceNode
from engine.diagnosis.test_strings.values import ExpectedText


def step(token_id, token):
    return Step(token_id, token, "", 0.25, 0.5, 0.5, 3, False, 7, "sampler", 4)


FULL = DocumentFile(
    title="All fields",
    grammar=GrammarPart("regex", "é\n\\d+", "ecma"),
    model=ModelPart("records", "Records", "f1", "f2"),
    prompt=Chat((("user", "hello"),), "Sure"),
    sampler=SamplerSettings(temperature=0.5, top_k=3, seed=9),
    max_tokens=12,
    former=(ArchivedBranch("Records", "hi", (step(5, b"\xff"),)), ArchivedBranch("x", Chat((("user", "hi"),)), ())),
    trace=Trace(
        (TraceNode(1, None, step(5, b"\xff\x00")), TraceNode(2, 1, step(6, None)), TraceNode(3, 1, step(7, b"x"))),
        (1, 3),
        3,
        frozenset({2}),
    ),
    pipeline=PipelineSettings(
        order=("suppress", "grammar"),
        zones=ZoneSettings(
            "</think>",
            then=Afterwards.AGAIN,
            others=(OtherZone("gbnf", 'root ::= "a"', after_token="<call>", until=";"),),
        ),
        coalesce=Strategy.OWN,
        table=TableSettings(((1, 2, 1),)),
        suppress=("e",),
        bias=(("the", 1.5),),
    ),
    test_strings=(ExpectedText("é1"), ExpectedText("", accepts=False)),
    automaton=AutomatonPart("value", follows=True, tokens=True, method="dot", downwards=True),
)


def test_what_is_written_is_read_again(tmp_path):
    path = tmp_path / "a.turnstile"
    document_file.write(path, FULL)
    assert document_file.read(path) == FULL


def test_the_file_is_indented_json_with_a_version():
    data = document_file.encode(FULL)
    assert json.loads(data)["version"] == document_file.VERSION
    assert data.count(b"\n") > 20


def test_a_file_of_an_earlier_state_of_the_version_is_read():
    data = b'{"format": "turnstile", "version": 1, "grammar": {"notation": "regex", "text": "a"}}'
    assert document_file.decode(data, "a") == DocumentFile(grammar=GrammarPart("regex", "a"))
    assert document_file.decode(data, "a").pipeline == PipelineSettings()


def test_a_schema_of_an_earlier_file_has_the_options_of_a_new_one():
    grammar = {"notation": "json_schema", "text": "{}", "whitespace": "any"}
    data = json.dumps({"format": "turnstile", "version": 1, "grammar": grammar}).encode()
    grammar = document_file.decode(data, "a").grammar
    assert (grammar.escapes, grammar.additional) == ("shortest", "open")
    assert grammar.options == CompileOptions(whitespace="any")


def test_the_options_of_a_schema_are_kept():
    grammar = GrammarPart("json_schema", "{}", escapes="any", additional="closed")
    kept = document_file.decode(document_file.encode(DocumentFile(grammar=grammar)), "a").grammar
    assert kept == grammar
    assert kept.options == CompileOptions(escapes="any", additional="closed")


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"", "not a Turnstile document"),
        (b"\x00\xff\xfe", "not a Turnstile document"),
        (b"[1]", "not a Turnstile document"),
        (b'{"version": 1}', "not a Turnstile document"),
        (b'{"format": "turnstile", "version": 99, "grammar": 7}', "later Turnstile"),
        (b'{"format": "turnstile", "version": 1, "grammar": 7}', "damaged"),
        (b'{"format": "turnstile", "version": 1, "pipeline": {"order": ["magic"]}}', "no stage 'magic'"),
        (b'{"format": "turnstile", "version": 1, "trace": {"path": [4]}}', "damaged"),
        (b'{"format": "turnstile", "version": 1, "trace": {"current": 4}}', "damaged"),
        (b'{"format": "turnstile", "version": 1, "sampler": {"temperature": -1}}', "damaged"),
        (b'{"format": "turnstile", "version": 1, "max_tokens": 0}', "damaged"),
    ],
)
def test_what_is_no_document_is_refused_with_a_reason(data, says):
    with pytest.raises(DocumentError, match=says) as caught:
        document_file.decode(data, "bad.turnstile")
    assert str(caught.value).startswith("bad.turnstile")


def test_an_oversized_file_is_not_even_read(tmp_path):
    path = tmp_path / "huge.turnstile"
    with path.open("wb") as file:
        file.truncate(document_file.SIZE_LIMIT + 1)
    with pytest.raises(DocumentError, match="too large"):
        document_file.read(path)


def test_a_missing_file_and_a_folder_are_refused(tmp_path):
    for path in (tmp_path / "none.turnstile", tmp_path):
        with pytest.raises(DocumentError, match="cannot be read"):
            document_file.read(path)


def test_a_write_that_fails_says_that_the_work_is_still_there(tmp_path):
    with pytest.raises(DocumentError, match="still open"):
        document_file.write(tmp_path / "no" / "folder.turnstile", FULL)


@pytest.mark.skipif(os.name == "nt", reason="Windows has other rights")
def test_a_document_can_be_read_by_others_and_keeps_its_rights(tmp_path):
    file = tmp_path / "a.turnstile"
    (tmp_path / "plain").write_bytes(b"")
    document_file.write(file, DocumentFile())
    assert file.stat().st_mode == (tmp_path / "plain").stat().st_mode
    file.chmod(0o640)
    document_file.write(file, DocumentFile())
    assert file.stat().st_mode & 0o777 == 0o640


def test_test_strings_of_older_files_should_be_accepted():
    listed = b'["a", {"text": "b", "accepts": false}]'
    old = document_file.decode(b'{"format": "turnstile", "version": 1, "test_strings": %s}' % listed, "old")
    assert old.expected_texts == (ExpectedText("a"), ExpectedText("b", accepts=False))
