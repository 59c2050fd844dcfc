"""Two engines on one grammar: doubles that drop, add and refuse, and those of Turnstile with other options."""

from __future__ import annotations

import json
from contextlib import ExitStack

import pytest

from engine.compile import CompileOptions, compile_grammar
from engine.diagnosis.case import RequestConstraint
from engine.diagnosis.differences import (
    CauseKind,
    DiffVerdict,
    Direction,
    PeerEngine,
    WalkOptions,
    cause_sentence,
    compare_engines,
    compare_named,
)
from engine.peers import PEERS
from engine.peers.adapter import BYTES, OWN, Peer
from engine.source import CancelledError, CancelToken
from engine.vocabulary import Vocabulary
from tests.engine.peers.peer_doubles import DoubleAdapter
from tests.engine.peers.schema_doubles import (
    AnyOfAdapter,
    AsciiAdapter,
    ByteAdapter,
    ChoosyAdapter,
    ClosingAdapter,
    ForgetfulAdapter,
    NineAdapter,
    SpacelessAdapter,
    UnorderedAdapter,
    WholeWordAdapter,
)

pytestmark = pytest.mark.usefixtures("ready_peers")
OURS = PEERS[OWN]
FORGETFUL, CLOSING, SPACELESS, ASCII, UNORDERED = (
    Peer(name, "pytest", adapter)
    for name, adapter in (
        ("forgetful", ForgetfulAdapter),
        ("closing", ClosingAdapter),
        ("spaceless", SpacelessAdapter),
        ("ascii", AsciiAdapter),
        ("unordered", UnorderedAdapter),
    )
)
DOUBLE_OF_RULES = Peer("nineless", "pytest", NineAdapter)
DOUBLE = Peer("double", "pytest", DoubleAdapter)
WALK = WalkOptions(steps=120)
SCHEMA = {
    "type": "object",
    "properties": {"a": {"enum": ["x", "y"]}, "n": {"type": "integer", "minimum": 2, "maximum": 40}},
    "required": ["n"],
    "additionalProperties": False,
}


def compared(
    first, second, source, *, notation="json_schema", walk=WALK, cancel=None, show=lambda _found: None, limit_s=5
):
    text = source if isinstance(source, str) else json.dumps(source)
    cancel, options = cancel or CancelToken(), CompileOptions()
    with (
        PeerEngine(first, BYTES, notation, options=options, limit_s=limit_s, cancel=cancel) as one,
        PeerEngine(second, BYTES, notation, options=options, limit_s=limit_s, cancel=cancel) as other,
    ):
        return compare_engines((one, other), BYTES, RequestConstraint(notation, text), walk, cancel, show)


def accepts(source, text):
    return compile_grammar("json_schema", json.dumps(source)).fullmatch(text)


def test_an_engine_equals_itself():
    report = compared(OURS, OURS, SCHEMA)
    assert (report.verdict, report.differences) == (DiffVerdict.EQUAL, ())
    assert report.checked > 20
    assert not report.is_cut_by_time


def test_a_dropped_keyword_is_named_with_a_text_that_shows_it():
    report = compared(OURS, FORGETFUL, SCHEMA)
    (found,) = report.differences
    assert report.verdict is DiffVerdict.LOOSER
    assert (found.kind, found.direction, found.pointer) == (
        CauseKind.KEYWORD,
        Direction.GAINED,
        "/properties/n/maximum",
    )
    assert (found.engine, found.effect, found.accepted_by) == ("forgetful", "drops", "forgetful")
    assert found.gained
    assert found.lost == ()
    assert not accepts(SCHEMA, found.text)
    assert accepts({**SCHEMA, "properties": {"a": SCHEMA["properties"]["a"], "n": {"type": "integer"}}}, found.text)
    assert found.text.startswith(found.prefix + bytes(found.gained[:1])) or found.prefixes > 1
    (span,) = found.spans
    assert json.dumps(SCHEMA)[span.start : span.end] == "40"


def test_the_verdict_is_about_the_second_engine():
    report = compared(FORGETFUL, OURS, SCHEMA)
    assert report.verdict is DiffVerdict.STRICTER
    assert (report.first.direction, report.first.engine) == (Direction.LOST, "forgetful")


def test_equal_arguments_give_equal_results():
    assert compared(OURS, FORGETFUL, SCHEMA) == compared(OURS, FORGETFUL, SCHEMA)


def test_another_default_is_named_by_the_keyword_that_is_absent():
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}}
    report = compared(OURS, CLOSING, schema)
    (found,) = report.differences
    assert report.verdict is DiffVerdict.STRICTER
    assert (found.kind, found.pointer, found.engine) == (CauseKind.DEFAULT, "/additionalProperties", "closing")
    assert accepts(schema, found.text)
    assert not accepts({**schema, "additionalProperties": False}, found.text)


def test_forms_of_a_value_come_last_and_count_only_alone():
    report = compared(OURS, SPACELESS, {"const": [1, 2]})
    assert {one.kind for one in report.differences} == {CauseKind.WHITESPACE}
    assert report.verdict is DiffVerdict.STRICTER
    schema = {"type": "array", "items": {"type": "integer", "maximum": 3}, "minItems": 1, "maxItems": 2}
    both = compared(SPACELESS, FORGETFUL, schema)
    assert [one.kind for one in both.differences] == [CauseKind.KEYWORD, CauseKind.WHITESPACE]
    assert both.verdict is DiffVerdict.LOOSER


def test_a_character_that_an_engine_forbids_in_every_string_is_a_form():
    report = compared(OURS, ASCII, {"type": "object", "properties": {"a": {"type": "string", "maxLength": 2}}})
    assert {one.kind for one in report.differences} == {CauseKind.ESCAPES}
    assert report.verdict is DiffVerdict.STRICTER


def test_bytes_that_are_no_text_are_no_matter_of_a_rule():
    report = compared(OURS, Peer("bytes", "pytest", ByteAdapter), 'root ::= "a" [^b]', notation="gbnf")
    assert {one.kind for one in report.differences} == {CauseKind.ENCODING}
    assert report.first.engine == "bytes"


def test_properties_in_another_order_are_a_form():
    schema = {"type": "object", "properties": {"a": {"const": 1}, "b": {"const": 2}}, "additionalProperties": False}
    report = compared(OURS, UNORDERED, schema)
    assert {one.kind for one in report.differences} == {CauseKind.ORDER}
    assert report.first.text == b'{"b":2,"a":1}'


@pytest.mark.parametrize(
    ("others", "lost"),
    [((b"name",), ord("n")), ((b"name", b'"n'), 258)],
    ids=["the longest tokens are allowed", "shorter ones are"],
)
def test_other_tokens_of_the_same_text_are_no_matter_of_a_keyword(others, lost):
    vocabulary = Vocabulary([*BYTES.tokens, *others], BYTES.eos_ids, BYTES.special)
    schema = {
        "type": "object",
        "properties": {"name": {"const": 1}},
        "required": ["name"],
        "additionalProperties": False,
    }
    report, used = compare_named(
        (OURS, Peer("words", "pytest", WholeWordAdapter)),
        RequestConstraint("json_schema", json.dumps(schema)),
        WalkOptions(steps=40),
        vocabulary=vocabulary,
    )
    assert used == vocabulary
    assert {one.kind for one in report.differences} == {CauseKind.TOKENS}
    assert (report.verdict, report.first.lost) == (DiffVerdict.STRICTER, (lost,))
    assert report.first.text is None, "both accept each text, in some tokens"
    assert cause_sentence(report.first, report.names)


def test_a_number_that_a_keyword_forbids_is_no_form_of_another():
    report = compared(OURS, FORGETFUL, {"type": "array", "items": {"type": "integer", "maximum": 4}})
    assert {one.pointer for one in report.differences} == {"/items/maximum"}


def test_the_keyword_around_alternatives_is_named():
    schema = {"oneOf": [{"enum": ["a", "b"]}, {"enum": ["b", "c"]}]}
    report = compared(OURS, Peer("lenient", "pytest", AnyOfAdapter), schema)
    (found,) = report.differences
    assert (found.pointer, found.effect, found.text) == ("/oneOf", "approximates", b'"b"')


def test_a_difference_in_a_grammar_of_rules_names_the_rule():
    source = 'root ::= "a" number\nnumber ::= [0-9]+'
    report = compared(OURS, DOUBLE_OF_RULES, source, notation="gbnf")
    assert report.verdict is DiffVerdict.STRICTER
    assert (report.first.kind, report.first.rule) == (CauseKind.RULE, "number")
    assert report.first.text == b"a9"


@pytest.mark.parametrize("source", ["refused", "hangs", "dies"])
def test_a_refusal_is_a_verdict(source):
    report = compared(OURS, DOUBLE, source, notation="regex", limit_s=2)
    assert report.verdict is DiffVerdict.REFUSED
    (refusal,) = report.refusals
    assert (refusal.engine, refusal.pointer) == ("double", None)
    assert refusal.reason


def test_a_refused_keyword_is_named():
    report = compared(OURS, Peer("choosy", "pytest", ChoosyAdapter), SCHEMA)
    assert [one.pointer for one in report.refusals] == ["/properties/n/maximum"]


def test_an_engine_that_fails_within_a_text_is_a_difference():
    report = compared(OURS, DOUBLE, "breaks", notation="regex")
    assert report.first.kind is CauseKind.FAILURE
    assert report.first.reason == "RuntimeError: it broke in two lines"


def test_a_time_limit_is_stated():
    report = compared(OURS, OURS, SCHEMA, walk=WalkOptions(seconds=1e-9))
    assert (report.verdict, report.checked, report.is_cut_by_time) == (DiffVerdict.UNKNOWN, 0, True)


def test_differences_that_no_time_is_left_to_explain_are_shown_without_a_cause():
    cancel = CancelToken()
    with cancel.within(60), ExitStack() as late:
        report = compared(
            OURS, FORGETFUL, SCHEMA, cancel=cancel, show=lambda _found: late.enter_context(cancel.within(0))
        )
    assert report.is_cut_by_time
    assert {one.kind for one in report.differences} == {CauseKind.UNEXPLAINED}
    assert (report.verdict, bool(report.first.gained), report.first.text) == (DiffVerdict.LOOSER, True, None)
    assert cause_sentence(report.first, report.names)


def test_given_texts_are_followed_first():
    walk = WalkOptions(texts=(b'{"n":41}',), steps=8)
    assert compared(OURS, FORGETFUL, SCHEMA, walk=walk).first.prefix == b'{"n":4'


def test_it_can_be_cancelled():
    cancel = CancelToken(lambda *_: cancel.cancel())
    with pytest.raises(CancelledError):
        compared(OURS, OURS, SCHEMA, cancel=cancel)
