"""The cause of a failure from the grammar, the request, the log and the tokens."""

from __future__ import annotations

import json

import pytest

from engine.diagnosis.case import FailureCase, FinishReason, LogFinding, RequestConstraint, ToolCall
from engine.diagnosis.failures.diagnose import RULES, diagnose
from engine.diagnosis.failures.diagnosis import Cause, OtherCause
from engine.diagnosis.failures.examination import AcceptedPrefix
from engine.diagnosis.failures.output_rules import ANY_VIOLATION
from engine.diagnosis.intake import read_log
from engine.diagnosis.verdicts.replay import TokenSource
from engine.vocabulary import Vocabulary

SCHEMA = json.dumps({"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]})
EMPTY_MASK = """
Failed to advance FSM for request 1-9 for tokens 0. Please file an issue.
Unexpected: grammar rejected tokens [0] for request 1-9. Terminating request.
"""
TWICE = json.dumps({"type": "object", "properties": {"t": {"type": "string", "maxLength": 10_000}}})


def case_of(grammar, notation="gbnf", output=None, log="", **fields):
    return FailureCase(
        constraints=(RequestConstraint(notation, grammar),),
        output=None if output is None else output.encode(),
        log=read_log(log),
        **fields,
    )


@pytest.mark.parametrize(
    ("grammar", "cause", "detail"),
    [
        ('root ::= root "a" | "b"', "left-recursion", ""),
        ('root ::= ws root "x" | "y"\nws ::= [ ]*', "left-recursion", ""),
        ('root ::= (("x"*)*)*', "state-explosion", "root"),
        ('root ::= [0-9] (b? b? b? b? b? [0-9])*\nb ::= "b"', "state-explosion", "root"),
        ('root ::= "x"{0,9000}', "unsupported-construct", "repetition"),
        ('root ::= "<|im_start|>" [a-z]+', "special-token-text", "<|im_start|>"),
        ('root ::= "a" # "<|im_start|>"', "unknown", ""),
        ('root ::= ["] [a-z] </s> ["] "b"', "unknown", ""),
        ('root ::= "a', "grammar-error", "gbnf-unclosed-literal"),
        ('root ::= "a"', "unknown", ""),
    ],
)
def test_a_grammar_alone_can_be_the_cause(grammar, cause, detail):
    found = diagnose(case_of(grammar))
    assert (found.cause, found.detail) == (cause, detail)
    assert found.places or cause == "unknown"


@pytest.mark.parametrize(
    ("schema", "target", "cause", "pointer"),
    [
        ({"type": "string", "pattern": "^(?!a)b$"}, "llama.cpp", "unsupported-construct", "/pattern"),
        ({"type": "string", "pattern": "^\\d+$"}, "llama.cpp@b5000", "unsupported-construct", "/pattern"),
        ({"type": "string", "pattern": "[0-9]"}, "ollama", "unsupported-construct", "/pattern"),
        ({"type": "string", "maxLength": 10_000}, "llama.cpp", "slow-compile", "/maxLength"),
        ({"type": "string", "maxLength": 10_000}, "", "slow-compile", "/maxLength"),
        ({"type": "array", "uniqueItems": True}, "xgrammar", "unsupported-construct", "/uniqueItems"),
        ({"type": "array", "uniqueItems": True}, "vllm@0.33", "unsupported-construct", "/uniqueItems"),
        ({"type": "array", "uniqueItems": True}, "sglang", "unsupported-construct", "/uniqueItems"),
        ({"type": "object", "not": {"required": ["a"]}}, "openai", "unsupported-construct", "/not"),
    ],
)
def test_what_the_target_does_not_take_is_named_with_its_pointer(schema, target, cause, pointer):
    found = diagnose(case_of(json.dumps(schema), "json_schema"), target=target)
    assert found.cause == cause
    assert pointer in [place.pointer for place in found.places]
    assert found.fix


def test_the_bound_that_makes_a_grammar_slow_is_named():
    inner = {"type": "object", "properties": {"id": {"type": "string", "maxLength": 200}}}
    schema = {"type": "object", "properties": {"x": {"type": "array", "maxItems": 1000, "items": inner}}}
    found = diagnose(case_of(json.dumps(schema), "json_schema"))
    assert found.cause is Cause.SLOW_COMPILE
    assert found.places[0].pointer == "/properties/x/items/properties/id/maxLength"
    assert diagnose(case_of(".{0,5000}@.{0,5000}", "regex")).cause is Cause.SLOW_COMPILE


def test_without_a_target_what_any_engine_refuses_is_reported_only_without_an_output():
    grammar = json.dumps({"type": "string", "pattern": "^(?=a)a$"})
    assert diagnose(case_of(grammar, "json_schema")).cause is Cause.UNSUPPORTED_CONSTRUCT
    found = diagnose(case_of(grammar, "json_schema", '"a"'))
    assert (found.cause, found.others) == (Cause.COMPLETE, ())


@pytest.mark.parametrize(
    ("log", "output", "cause", "detail"),
    [
        ("Failed to advance FSM for request x for tokens 71093.", '{"a": 1}', "speculative-rejection", "harmless"),
        ("Failed to advance FSM for request x for tokens 71093.", '{"a": ', "speculative-rejection", "harmful"),
        ("parse: error parsing grammar: unknown escape at \\!", "Sure!", "constraint-off", "grammar-refused"),
        ("llama_grammar_init_impl: failed to parse grammar", None, "grammar-error", "refused-by-server"),
        (
            "Unexpected empty grammar stack after accepting piece: <unused32>",
            "<unused32>",
            "constraint-off",
            "accepted-illegal-token",
        ),
        (
            "RuntimeError: The size of tensor a (50432) must match the size of tensor b (50277)",
            None,
            "sampler-conflict",
            "logits-width",
        ),
        (
            "unsupported grammar, left recursion detected for nonterminal at index 3",
            None,
            "left-recursion",
            "llama-left-recursion",
        ),
        (
            EMPTY_MASK,
            '{"a": 1}!',
            "sampler-conflict",
            "min-tokens",
        ),
        ('Unimplemented keys: ["uniqueItems"]', None, "unsupported-construct", "schema"),
        ("Current row has 2001 items; max is 2000", None, "state-explosion", "llguidance-rows"),
        ("an unrelated line", '{"a": 1}', "complete", ""),
    ],
)
def test_a_message_in_the_log_outweighs_the_text(log, output, cause, detail):
    found = diagnose(case_of(SCHEMA, "json_schema", output, log))
    assert (found.cause, found.detail) == (cause, detail)
    assert found.fix


@pytest.mark.parametrize(("size", "shows"), [(3, False), (5, True)])
def test_refused_drafts_have_texts_only_in_a_vocabulary_that_has_their_ids(size, shows):
    log = "Failed to advance FSM for request x for tokens 4. Please file an issue."
    vocabulary = Vocabulary([b"a", b"b", b"c", b"d", b"zebra"][:size], eos_ids=[])
    found = diagnose(case_of(SCHEMA, "json_schema", '{"a": 1}', log), token_source=TokenSource(vocabulary))
    assert found.cause is Cause.SPECULATIVE_REJECTION
    assert any("zebra" in line for line in found.evidence) == shows


def test_a_stage_before_the_grammar_can_leave_no_token():
    assert diagnose(case_of("[0-9]", "regex", top_k=1)).detail == "top-k"
    assert diagnose(case_of("[0-9]", "regex", "7", top_k=1)).cause is Cause.COMPLETE
    assert diagnose(case_of("true|false", "regex", min_tokens=20)).detail == "min-tokens"
    assert diagnose(case_of("[a-z]+", "regex", min_tokens=20)).cause is Cause.UNKNOWN


@pytest.mark.parametrize(
    ("grammar", "notation", "output", "cause", "detail"),
    [
        ("(Positive|Negative)", "regex", " Positive", "token-boundary", "leading-space"),
        ("[a-z]+ [a-z]+", "regex", "cat▁dog", "tokenizer-mismatch", "▁"),
        ("[a-z]+ [a-z]+", "regex", "catĠdog", "tokenizer-mismatch", "Ġ"),
        ('root ::= "<t>" any+ "</t>"\nany ::= [\\x1f-\\xff]', "gbnf", "<t>東京</t>", "encoding", "byte-class"),
        ("<t>[\\x1f-\\xff]+", "regex", "<t>東京", "encoding", "byte-class"),
        ('root ::= "<t>" [a-z]+ # not [\\x1f-\\xff]', "gbnf", "<t>東京", "schema-violation", "pattern"),
        ("[a-zé]+", "regex", "cafÃ©", "encoding", "decoded-twice"),
        ("[a-z]+", "regex", "\ufeffabc", "encoding", "byte-order-mark"),
        ("[a-z]+!", "regex", "abc\ufffd", "encoding", "replacement"),
        ("[a-z]+", "regex", "abc<|im_end|>", "special-token-text", "<|im_end|>"),
        (SCHEMA, "json_schema", '{"a": <end_of_turn>', "special-token-text", "<end_of_turn>"),
        (SCHEMA, "json_schema", "<unused32>", "special-token-text", "<unused32>"),
    ],
)
def test_tokens_and_characters_can_be_the_cause(grammar, notation, output, cause, detail):
    found = diagnose(case_of(grammar, notation, output))
    assert (found.cause, found.detail) == (cause, detail)


@pytest.mark.parametrize(("pattern", "is_slow"), [("[a{]{10000}", True), ("[a{10000}]", False), ("a\\{10000}", False)])
def test_counts_in_classes_and_behind_backslashes_cost_nothing(pattern, is_slow):
    found = diagnose(case_of(json.dumps({"type": "string", "pattern": f"^{pattern}$"}), "json_schema"))
    assert (found.cause is Cause.SLOW_COMPILE) is is_slow


def test_raw_pieces_and_unknown_ids_show_another_tokenizer():
    pieces = ["\u2581".encode() + bytes((97 + n // 26, 97 + n % 26)) for n in range(200)]
    source = TokenSource(Vocabulary(pieces, eos_ids=[]))
    found = diagnose(case_of("[a-z]+ [a-z]+", "regex"), token_source=source)
    assert (found.cause, found.detail) == (Cause.TOKENIZER_MISMATCH, "pieces")
    found = diagnose(case_of("[a-z]+", "regex", "a", ids=(9_999,)), token_source=source)
    assert (found.cause, found.detail) == (Cause.TOKENIZER_MISMATCH, "id")


def test_a_constraint_in_a_field_that_the_server_does_not_read_is_ignored():
    found = diagnose(case_of(SCHEMA, "json_schema", "Sure!", ignored=("/guided_json",), server="ollama"))
    assert (found.cause, found.places[0].pointer) == (Cause.REQUEST_IGNORED, "/guided_json")
    assert "format" in found.fix
    assert diagnose(case_of(SCHEMA, "json_schema", '{"a": 1}', ignored=("/x",))).cause is Cause.COMPLETE


def test_a_trigger_of_the_request_that_never_came():
    case = case_of("root ::= [a-z]+", output="hereudersing", is_lazy=True, triggers=("</think>",))
    assert diagnose(case).cause is Cause.TRIGGER_NEVER_CAME


def test_an_answer_in_the_reasoning_channel():
    found = diagnose(case_of(SCHEMA, "json_schema", "", reasoning='so {"a": 1}', finish=FinishReason.STOP))
    assert (found.cause, found.detail) == (Cause.WRONG_ZONE, "reasoning")


def test_the_prefill_precedes_the_output():
    assert diagnose(case_of(SCHEMA, "json_schema", '"a": 1}', prefill="{")).cause is Cause.COMPLETE


def test_the_failed_tool_call_is_named():
    constraints = tuple(RequestConstraint("json_schema", SCHEMA, tool=name) for name in ("first", "second"))
    calls = (ToolCall("first", '{"a": 1}'), ToolCall("second", '{"a": "x"}'))
    found = diagnose(FailureCase(constraints=constraints, tool_calls=calls))
    assert (found.cause, found.tool, found.zone) == (Cause.KEYWORD_NOT_ENFORCED, "second", "arguments")


@pytest.mark.parametrize(
    ("others", "cause", "detail"),
    [
        ({"xgrammar": (6, False), "llguidance": (8, True)}, Cause.ENGINE_DIFFERENCE, ""),
        ({"xgrammar": (8, False), "llguidance": (8, True)}, Cause.ENGINE_DIFFERENCE, "end"),
        ({"xgrammar": (8, True), "llguidance": (8, True)}, Cause.COMPLETE, ""),
        ({"xgrammar": (8, True)}, Cause.COMPLETE, ""),
    ],
)
def test_engines_may_differ_in_what_they_accept_and_in_where_it_may_end(others, cause, detail):
    accepted = {name: AcceptedPrefix(*prefix) for name, prefix in others.items()}
    found = diagnose(case_of(SCHEMA, "json_schema", '{"a": 1}'), accepted=accepted)
    assert (found.cause, found.detail) == (cause, detail)
    assert len(found.evidence) >= (2 if cause is Cause.ENGINE_DIFFERENCE else 0)


def test_further_causes_are_listed():
    log = "Failed to advance FSM for request x for tokens 71093."
    found = diagnose(case_of(SCHEMA, "json_schema", '{"a": 1,}', log))
    assert OtherCause(Cause.SCHEMA_VIOLATION, "trailing-comma") in found.others


def test_every_cause_has_a_rule():
    covered = {rule.cause for rule in (*RULES, ANY_VIOLATION)}
    assert set(Cause) - covered == {Cause.UNKNOWN}


def test_the_tool_whose_schema_the_server_cannot_use_is_named():
    constraints = tuple(
        RequestConstraint("json_schema", text, tool=name) for name, text in (("read", SCHEMA), ("scrape", TWICE))
    )
    log = (LogFinding("llama-parse-failed", 1, "Failed to initialize samplers: failed to parse grammar"),)
    found = diagnose(FailureCase(constraints=constraints, log=log), target="llama.cpp")
    assert (found.cause, found.tool) == (Cause.GRAMMAR_ERROR, "scrape")
    assert "/properties/t/maxLength" in found.sentence
