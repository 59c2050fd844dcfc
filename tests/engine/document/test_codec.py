"""The `.turnstile` format: round trips, earlier versions, unknown fields, its JSON Schema, and damage."""

import json
from dataclasses import replace
from pathlib import Path

import jsonschema
import msgspec
import pytest
from error_keys import raises_key

from engine.compile import CompileOptions
from engine.decoding.debugging.breakpoints import Breakpoint, BreakpointKind, ConditionBreakpoint
from engine.decoding.pipeline_settings import (
    Afterwards,
    OtherZone,
    PipelineSettings,
    TableSettings,
    ZoneSettings,
)
from engine.decoding.values import ArchivedBranch, Chat, SamplerSettings, Step, StepOrigin, Trace, TraceNode
from engine.document.codec import DocumentError, LaterVersionError, decode, encode, is_document, json_schema
from engine.document.content import (
    VERSION,
    AutomatonPart,
    DocumentFile,
    ExpectedText,
    GrammarPart,
    ModelPart,
    UnknownField,
)
from engine.document.saved_traces import read_saved_trace
from engine.source.catalogue import catalogue_text

ROOT = Path(__file__).parents[3]
DOCUMENTS = ROOT / "tests" / "data" / "documents"
VERSION_1, VERSION_2 = DOCUMENTS / "version-1.turnstile", DOCUMENTS / "version-2.turnstile"
SCHEMA = ROOT / "resources" / "document.schema.json"


def step(token_id, token, origin=StepOrigin.SAMPLER, **more):
    return Step(token_id, token, "", 0.25, 0.5, 0.5, 3, False, 7, origin, 4, **more)


FULL = DocumentFile(
    title="All fields of version 1",
    grammar=GrammarPart("regex", "é\n\\d+", "ecma"),
    model=ModelPart("records", "Records", "f1", "f2"),
    prompt=Chat((("user", "hello"),), "Sure"),
    sampler=SamplerSettings(temperature=0.5, top_k=3, seed=9),
    max_tokens=12,
    archived=(ArchivedBranch("Records", "hi", (step(5, b"\xff"), step(6, b"x", StepOrigin.REPLAYED))),),
    trace=Trace(
        (
            TraceNode(1, None, step(5, b"\xff\x00", StepOrigin.USER, entropy=0.5, mask_us=3.0, logits_ms=1.5)),
            TraceNode(2, 1, step(6, None, StepOrigin.FORCED_BY_USER)),
            TraceNode(3, 1, step(7, b"x", StepOrigin.FAST_FORWARDED)),
        ),
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
        forced="own",
        table=TableSettings(((1, 2, 1),)),
        suppress=("e",),
        bias=(("the", 1.5),),
    ),
    test_strings=(ExpectedText("é1"), ExpectedText("", accepts=False)),
    breakpoints=(
        Breakpoint(BreakpointKind.RULE, "value"),
        Breakpoint(BreakpointKind.POSITION, offset=2, label="\\d"),
        Breakpoint(BreakpointKind.STATE, "", 3, label="3", enabled=False),
    ),
    automaton=AutomatonPart("value", follows=True, tokens=True, merges=False, method="dot", downwards=True),
)
WITH_CONDITIONS = msgspec.structs.replace(
    FULL, conditions=(ConditionBreakpoint("rank", 20), ConditionBreakpoint("allowed-mass", 0.001, enabled=False))
)


def changed(**fields):
    return json.dumps(json.loads(encode(FULL)) | fields).encode()


def test_a_document_survives_a_round_trip():
    assert decode(encode(FULL), "a") == FULL
    assert decode(encode(WITH_CONDITIONS), "a") == WITH_CONDITIONS
    assert decode(encode(DocumentFile()), "a") == DocumentFile()


def test_a_file_is_indented_json_that_ends_in_a_newline():
    data = encode(FULL)
    assert json.loads(data)["version"] == VERSION
    assert data.count(b"\n") > 20
    assert data.endswith(b"}\n")


def test_a_document_of_version_1_opens_with_all_of_its_fields():
    assert decode(VERSION_1.read_bytes(), "a") == FULL


def test_a_document_of_version_2_opens_with_its_order_of_the_stages():
    order = ("suppress", "grammar", "repetition-penalty", "top-k")
    expected = msgspec.structs.replace(FULL, pipeline=replace(FULL.pipeline, order=order))
    assert decode(VERSION_2.read_bytes(), "a") == expected


def test_a_document_of_version_1_has_the_defaults_of_fields_that_it_lacks():
    data = b'{"format": "turnstile", "version": 1, "grammar": {"notation": "json_schema", "whitespace": "any"}}'
    document = decode(data, "a")
    assert document == DocumentFile(grammar=GrammarPart("json_schema", whitespace="any"))
    assert document.grammar.options == CompileOptions(whitespace="any")


@pytest.mark.parametrize("version", [0, -1])
def test_a_version_before_the_first_is_read_as_the_first(version):
    data = json.loads(VERSION_1.read_bytes()) | {"version": version}
    assert decode(json.dumps(data).encode(), "a") == FULL


def test_unknown_fields_are_written_back():
    data = json.loads(encode(FULL))
    data["notes"] = {"by": ["someone", 1.5, None]}
    data["grammar"]["flavour"] = "x"
    data["pipeline"]["beams"] = 4
    document = decode(json.dumps(data).encode(), "a")
    assert document.unknown == (
        UnknownField("grammar", "flavour", b'"x"'),
        UnknownField("pipeline", "beams", b"4"),
        UnknownField("", "notes", b'{"by":["someone",1.5,null]}'),
    )
    edited = msgspec.structs.replace(document, title="other", grammar=GrammarPart("regex", "b"))
    written = json.loads(encode(edited))
    assert written["notes"] == data["notes"]
    assert written["pipeline"] == data["pipeline"]
    assert written["grammar"] == {**json.loads(encode(DocumentFile()))["grammar"], "text": "b", "flavour": "x"}
    assert decode(encode(edited), "a") == edited


def test_the_json_schema_in_the_repository_is_that_of_the_format():
    assert json.loads(SCHEMA.read_text("utf-8")) == json.loads(json.dumps(json_schema())), (
        "python -m engine.document > document.schema.json"
    )


def test_the_json_schema_accepts_what_is_written_and_refuses_what_is_not_read():
    validator = jsonschema.Draft202012Validator(json.loads(SCHEMA.read_text("utf-8")))
    for document in (FULL, DocumentFile()):
        validator.validate(json.loads(encode(document)))
    for fields in (
        {"max_tokens": 0},
        {"grammar": {"dialect": "perl"}},
        {"grammar": {"notation": "Lark, or so"}},
        {"trace": {"nodes": 1}},
        {"format": "other"},
    ):
        assert not validator.is_valid(json.loads(changed(**fields)))


NO_DOCUMENT, OTHER_JSON = "errors.document.no_document", "errors.document.other_json"
DAMAGED = "errors.document.damaged"


@pytest.mark.parametrize(
    ("data", "key", "reason"),
    [
        (b"", NO_DOCUMENT, ""),
        (b"\x00\xff\xfe", NO_DOCUMENT, ""),
        (b"[" * 100_000, NO_DOCUMENT, ""),
        (b"[1]", NO_DOCUMENT, ""),
        (b'{"version": 1}', OTHER_JSON, ""),
        (changed(format="other"), OTHER_JSON, ""),
        (b'{"format": "turnstile", "version": 1, "grammar": 7}', DAMAGED, ""),
        (b'{"format": "turnstile", "version": 1, "trace": [], "pipeline": 3, "former": 1}', DAMAGED, ""),
        (b'{"format": "turnstile", "version": 1, "former": [{"steps": [1]}]}', DAMAGED, ""),
        (changed(grammar=7), DAMAGED, ""),
        (changed(grammar={"dialect": "perl"}), DAMAGED, "'perl'"),
        (changed(grammar={"notation": "lark"}), DAMAGED, "'lark'"),
        (changed(pipeline={"order": ["magic"]}), DAMAGED, "'magic'"),
        (changed(trace={"path": [4]}), DAMAGED, catalogue_text("errors.decoding.trace.path", id=4)),
        (changed(trace={"current": 4}), DAMAGED, ""),
        (changed(sampler={"temperature": -1}), DAMAGED, ""),
        (changed(max_tokens=0), DAMAGED, ""),
        (changed(max_tokens="many"), DAMAGED, "max_tokens"),
        (changed(archived=[{"model": "", "prompt": "", "steps": [{"origin": "dice"}]}]), DAMAGED, ""),
    ],
)
def test_what_is_no_document_is_refused_with_a_reason(data, key, reason):
    with raises_key(DocumentError, key, name="bad.turnstile") as caught:
        decode(data, "bad.turnstile")
    assert reason in str(caught.value.fields.get("reason", ""))


def test_a_later_version_is_refused_by_its_version_whatever_else_it_contains():
    with raises_key(LaterVersionError, "errors.document.later_version", name="a", version=99, latest=3):
        decode(changed(version=99, grammar=7), "a")


def test_only_json_that_names_the_format_is_a_document():
    assert is_document(encode(FULL))
    assert is_document(VERSION_1.read_bytes())
    assert is_document(b'{"format": "turnstile", "version": 99}')
    assert [is_document(data) for data in (b"", b"{}", b"[1]", b'{"format": 1}', b"\xff")] == [False] * 5


def test_the_shown_branch_of_a_document_is_a_saved_trace():
    for data in (encode(FULL), VERSION_1.read_bytes()):
        saved = read_saved_trace(data, "a")
        assert (saved.ids, saved.pieces, saved.finish) == ((5, 7), (b"\xff\x00", b"x"), "")
