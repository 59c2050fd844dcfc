"""The cause of an output, from its text and the reported finish reason."""

from __future__ import annotations

import json

import pytest
from catalogue_texts import shows

from engine.diagnosis.case import FailureCase, FinishReason, RequestConstraint
from engine.diagnosis.failures.diagnose import diagnose
from engine.diagnosis.failures.diagnosis import Cause
from engine.diagnosis.failures.rules import all_fixes
from engine.diagnosis.failures.tolerant_json import apply_edits
from engine.diagnosis.verdicts.replay import TokenSource
from engine.source.catalogue import catalogue_text
from engine.vocabulary import Vocabulary

PERSON = json.dumps(
    {
        "type": "object",
        "properties": {
            "name": {"type": "string", "maxLength": 8},
            "age": {"type": "integer", "minimum": 0, "maximum": 120},
            "tags": {"type": "array", "items": {"enum": ["a", "b"]}, "maxItems": 3},
        },
        "required": ["name", "age"],
        "additionalProperties": False,
    },
    indent=1,
)


def cause_of(output, grammar=PERSON, notation="json_schema", token_source=None, **fields):
    constraints = (RequestConstraint(notation, grammar),)
    case = FailureCase(constraints=constraints, output=output.encode(), **fields)
    return diagnose(case, token_source=token_source)


@pytest.mark.parametrize(
    ("output", "cause", "detail"),
    [
        ('{"name": "Ada", "age": 36, "tags": ["a"]}', "complete", ""),
        ('{\n  "name": "Ada",\n  "age": 36\n}\n', "complete", ""),
        ('{"name": "\\u0041da", "age": 3.6e1}', "complete", ""),
        ('{"name": "Ada", "age": 36', "cut-off", ""),
        ('{"name": "Ada", "age": 136}', "keyword-not-enforced", "range"),
        ('{"name": "Ada", "age": 36, "tags": ["a", "b", "a", "b"]}', "keyword-not-enforced", "length"),
        ('{"name": "Ada", "age": 36, "tags": ["c"]}', "keyword-not-enforced", "enum"),
        ('{"age": 36, "name": "Ada"}', "key-order", ""),
        ('{"name": "Ada", "age": 36,}', "schema-violation", "trailing-comma"),
        ("{'name': 'Ada', 'age': 36}", "schema-violation", "single-quotes"),
        ('{"name": "Ada", "age": NaN}', "schema-violation", "nan"),
        ('{"name": "A\nda", "age": 36}', "schema-violation", "raw-newline"),
        ('```json\n{"name": "Ada", "age": 36}\n```', "schema-violation", "code-fence"),
        ('{"name": "Ada", "age": 36}\n{"name": "Bob", "age": 4}', "schema-violation", "second-value"),
        ('{"name": "Ada"}', "schema-violation", "missing-required"),
        ('{"name": "Ada", "x": 1, "age": 36}', "schema-violation", "extra-property"),
        ("[1]", "schema-violation", "type"),
        ("Sure! Here is what you asked for.", "constraint-off", ""),
        ('Sure: {"name": "Ada", "age": 36}', "wrong-zone", "prefix"),
        ('<think>\nhm\n</think>\n\n{"name": "Ada", "age": 36}', "wrong-zone", "reasoning"),
        ('<think>so {"name": "Ada", "age": 36}', "wrong-zone", "reasoning"),
        ('{"name": "{"name": "Ada", "age": 36}', "wrong-zone", "twice"),
        ("<think>hm, let me see", "trigger-never-came", ""),
        ("<think>hm, let me see</think>\n\n", "trigger-never-came", ""),
        ("<think>hm</think>\n\nSure! Here you are.", "constraint-off", ""),
        ('{"name": "Ada",' + " " * 300, "whitespace-loop", ""),
        ('{"name": "Ada",' + "\n " * 60 + '"age": 36}', "whitespace-loop", ""),
        ('{"name": "' + "ha" * 60, "repetition-loop", ""),
        ('{"name": "Ada", "age": 36}\n\nThe answer is Ada.', "eos-refused", ""),
    ],
)
def test_the_cause_follows_from_the_text(output, cause, detail):
    found = cause_of(output)
    assert (found.cause, found.detail) == (cause, detail)
    assert found.sentence.endswith(".")
    assert found.fix


@pytest.mark.parametrize(
    ("finish", "cause"),
    [
        (FinishReason.LENGTH, "cut-off"),
        (FinishReason.STOP, "stop-token"),
        (FinishReason.CONTEXT, "context-limit"),
        (FinishReason.UNKNOWN, "cut-off"),
    ],
)
def test_the_finish_reason_decides_about_a_legal_prefix(finish, cause):
    assert cause_of('{"name": "Ada", ', finish=finish).cause == cause


NUMBERS = Vocabulary([b"1", b",", None, None], eos_ids=[2])


def said(key, **fields):
    """Return an evidence of the catalogue."""
    return catalogue_text(f"failures.evidence.{key}", **fields)


def test_a_legal_beginning_says_where_it_ends_and_what_is_missing():
    found = cause_of('{"name": "Ad')
    assert said("open_value", where="`/name`") in found.evidence
    assert said("still_needs", names="`age`") in found.evidence
    assert shows(found.fix, "failures.evidence.if_budget")
    assert said("still_needs", names="`age`") in cause_of('{"name": "Ada"').evidence
    assert not any(shows(one, "failures.evidence.still_needs") for one in cause_of('{"name": "Ada", "ag').evidence)
    rules = cause_of("2026-1", 'root ::= year "-" month\nyear ::= [0-9]{4}\nmonth ::= [01] [0-9]\n', "gbnf")
    assert said("open_rules", names="`month`") in rules.evidence
    budget = cause_of('{"name": "Ad', finish=FinishReason.LENGTH)
    assert not shows(budget.fix, "failures.evidence.if_budget")


@pytest.mark.parametrize(
    ("fields", "expected", "missing"),
    [
        (
            {"stopped_by": ",", "stop": (",", ";")},
            [said("ended_by_string", text="`,`"), said("stop_string_is_legal", text="`,`")],
            [said("stop_strings", texts="`,`, `;`")],
        ),
        (
            {"stopped_by": "1", "stop": ("1",)},
            [said("ended_by_string", text="`1`")],
            [said("ended_by_id", id="1"), said("stop_string_is_legal", text="`1`")],
        ),
        (
            {"stopped_by": "3", "stop_ids": (3,)},
            [said("ended_by_id", id="3"), said("stop_ids", ids="3"), said("other_end_ids", ids="3", own="2")],
            [said("ended_by_string", text="`3`")],
        ),
        ({"stopped_by": "2"}, [said("ended_by_id", id="2")], [said("other_end_ids", ids="2", own="2")]),
        ({"stop": (";",)}, [said("stop_strings", texts="`;`")], []),
    ],
)
def test_what_ended_an_output_too_early_is_evidence(fields, expected, missing):
    found = cause_of("1", "1(,2){2}", "regex", token_source=TokenSource(NUMBERS), finish=FinishReason.STOP, **fields)
    assert found.cause is Cause.STOP_TOKEN
    assert set(expected) <= set(found.evidence)
    assert not set(missing) & set(found.evidence)


def test_an_end_id_that_the_tokenizer_has_not_explains_why_a_model_went_on():
    fields = {"token_source": TokenSource(NUMBERS), "stopped_by": "3", "finish": FinishReason.STOP}
    found = cause_of("yes\n\nBecause", "(yes|no)", "regex", **fields)
    assert found.cause is Cause.EOS_REFUSED
    assert said("ended_by_id", id="3") in found.evidence
    assert said("other_end_ids", ids="3", own="2") in found.evidence


def test_a_used_up_budget_is_a_finish_reason():
    found = cause_of("abc", "[a-z]+", "regex", max_tokens=3, completion_tokens=3)
    assert found.cause is Cause.CUT_OFF
    assert cause_of("abc", "[a-z]+", "regex", max_tokens=9, completion_tokens=3).cause is Cause.COMPLETE


def test_the_grammar_begins_after_its_trigger_and_blanks():
    case = FailureCase(
        constraints=(RequestConstraint("json_schema", PERSON),), output=b'hm</think>\n\n{"name": "Ada", "age": 36}'
    )
    found = diagnose(case, triggers=["</think>"])
    assert (found.cause, found.zone) == (Cause.COMPLETE, "</think>")
    found = diagnose(FailureCase(constraints=(RequestConstraint("regex", "a"),), output=b"=\na"), triggers=["="])
    assert found.cause is Cause.COMPLETE
    strict = diagnose(
        FailureCase(constraints=(RequestConstraint("regex", "a"),), output=b"=\na"), triggers=["="], allows_blanks=False
    )
    assert strict.cause is not Cause.COMPLETE


def test_a_keyword_that_was_not_enforced_is_named_with_its_pointer():
    found = cause_of('{"name": "Augusta Ada", "age": 136}')
    assert [place.pointer for place in found.places if place.pointer] == [
        "/properties/name/maxLength",
        "/properties/age/maximum",
    ]
    assert [(place.line, place.column) for place in found.places if place.pointer is None] == [(1, 10)]
    assert found.legal_prefix.bytes == len('{"name": "Augusta ')


def test_an_illegal_output_has_its_consequence_a_check_and_a_canary():
    for server in ("", "vllm", "llama.cpp", "ollama", "sglang", "openai"):
        constraints = (RequestConstraint("json_schema", PERSON),)
        found = diagnose(FailureCase(constraints=constraints, output=b'{"name": "Ada", "age": 136}'), target=server)
        assert len(found.evidence) >= 4
        assert "zq7" in found.evidence[-1]
        assert found.target == server


def test_every_violation_has_pointers_and_repairs():
    text = '{"name": "Augusta Ada", "age": 136, "x": 1,}'
    found = cause_of(text)
    kinds = [(one.detail, one.pointer) for one in found.violations]
    assert kinds == [
        ("length", "/properties/name/maxLength"),
        ("range", "/properties/age/maximum"),
        ("extra-property", "/additionalProperties"),
        ("trailing-comma", None),
    ]
    repaired = text.replace("Augusta ", "")
    while remaining := cause_of(repaired).violations:
        repaired = apply_edits(repaired, remaining[0].fixes[0].edits)
    assert cause_of(repaired).cause is Cause.COMPLETE
    loosened = apply_edits(PERSON, found.violations[0].fixes[-1].edits)
    assert json.loads(loosened)["properties"]["name"]["maxLength"] == 11


def test_a_value_that_meets_if_and_not_then_is_not_said_to_violate_if():
    schema = {"if": {"required": ["kind"]}, "then": {"properties": {"tags": False}}}
    found = cause_of('{"kind": 1, "tags": 2}', json.dumps(schema))
    condition = next(one for one in found.violations if one.pointer == "/if")
    assert shows(condition.sentence, "failures.violation.condition")


@pytest.mark.parametrize("beginning", ['{"name": ', '{"name": "Ada", ', '{\n"na'])
def test_an_output_that_begins_twice_is_repaired_by_the_removal_of_its_beginning(beginning):
    text = beginning + '{"name": "Ada", "age": 36}'
    found = cause_of(text)
    assert (found.cause, found.detail) == (Cause.WRONG_ZONE, "twice")
    assert Cause.SCHEMA_VIOLATION not in {one.cause for one in found.others}
    (violation,) = found.violations
    (repair,) = violation.fixes
    assert cause_of(apply_edits(text, repair.edits)).cause is Cause.COMPLETE


def test_the_settings_of_all_servers_are_evidence_while_the_server_is_unknown():
    text = '{"name": "Ada",' + " " * 300
    settings = {one.server: one.text for one in all_fixes(Cause.WHITESPACE_LOOP)}
    found = cause_of(text)
    assert found.fix == settings.pop("")
    assert all(any(text in line for line in found.evidence) for text in settings.values())
    known = diagnose(
        FailureCase(constraints=(RequestConstraint("json_schema", PERSON),), output=text.encode(), server="vllm")
    )
    assert known.fix in settings.values()
    assert not any(text in line for line in known.evidence for text in settings.values())


def test_a_missing_property_is_added_with_its_shortest_value():
    found = cause_of('{"name": "Ada"}')
    (violation,) = found.violations
    repaired = apply_edits('{"name": "Ada"}', violation.fixes[0].edits)
    assert cause_of(repaired).cause is Cause.COMPLETE


def test_a_grammar_that_does_not_compile_is_the_cause():
    found = cause_of("a", 'root ::= "a', "gbnf")
    assert (found.cause, found.places[0].line, found.places[0].column) == (Cause.GRAMMAR_ERROR, 1, 10)


@pytest.mark.parametrize(
    ("grammar", "output", "cause", "detail"),
    [
        ("(yes|no)", "maybe", "constraint-off", ""),
        ("(yes|no)", "YES", "keyword-not-enforced", "ignore-case"),
        ("(yes|no)", "yes\n\nBecause", "eos-refused", ""),
        ("[a-z]+ [0-9]{2,3}", "abc 12345", "keyword-not-enforced", "repetition"),
    ],
)
def test_expressions_are_judged_too(grammar, output, cause, detail):
    found = cause_of(output, grammar, "regex")
    assert (found.cause, found.detail) == (cause, detail)


def test_the_rule_that_was_not_enforced_is_named():
    found = cause_of("<tag>xyz</tag>", 'root ::= "<tag>" word "</tag>"\nword ::= [0-9]+', "gbnf")
    assert found.cause is Cause.KEYWORD_NOT_ENFORCED
    assert "`word`" in found.sentence


def test_without_grammar_or_evidence_the_cause_is_unknown():
    assert diagnose(FailureCase(output=b"a")).cause is Cause.UNKNOWN
    assert diagnose(FailureCase()).cause is Cause.UNKNOWN


def test_keywords_that_forbid_a_comma_together_are_named_together():
    schema = {
        "type": "object",
        "properties": {"role": {"enum": ["admin", "viewer"]}, "tags": {"type": "array"}},
        "required": ["role"],
        "if": {"properties": {"role": {"const": "viewer"}}},
        "then": {"properties": {"tags": False}},
        "additionalProperties": False,
    }
    found = cause_of('{"role": "viewer", ', json.dumps(schema))
    assert found.cause is Cause.SCHEMA_VIOLATION
    assert [one.pointer for one in found.places if one.pointer] == ["/then/properties/tags", "/additionalProperties"]
    assert shows(found.sentence, "failures.sentence.schema-violation.together")
    assert cause_of('{"role": "admin", ', json.dumps(schema)).cause is Cause.CUT_OFF
