"""Tool calls in the formats of the common families are judged as outputs."""

from __future__ import annotations

import json

import pytest

from engine import Vocabulary, compile_grammar
from engine.decoding.constraints.zones import ZoneGrammars
from engine.diagnosis.case import FailureCase, RequestConstraint
from engine.diagnosis.intake import call_grammars
from engine.diagnosis.intake.written_calls import ToolFamily

WEATHER = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "days": {"type": "integer"}, "unit": {"enum": ["C", "F"]}},
    "required": ["city"],
    "additionalProperties": False,
}
TREE = {
    "$defs": {"n": {"type": "array", "items": {"$ref": "#/$defs/n"}}},
    "type": "object",
    "properties": {"t": {"$ref": "#/$defs/n"}},
    "required": ["t"],
    "additionalProperties": False,
}
TOOLS = (
    RequestConstraint("json_schema", json.dumps(WEATHER), way="tools", tool="weather"),
    RequestConstraint("json_schema", json.dumps(TREE), way="tools", tool="tree"),
)
BYTES = Vocabulary([bytes([byte]) for byte in range(256)], eos_ids=[])


def allows(family: ToolFamily, output: str, tool_choice: str = "required") -> bool:
    case = FailureCase(constraints=TOOLS, tool_choice=tool_choice)
    made = next(one for one in call_grammars(case) if one.family == family)
    grammar = compile_grammar(made.notation, made.text, made.options)
    if made.zones is not None:
        grammar = ZoneGrammars(made.zones).around(grammar, BYTES)
    return grammar.fullmatch(output)


GOOD = {
    ToolFamily.HERMES: '<tool_call>\n{"name": "weather", "arguments": {"city": "Bern"}}\n</tool_call>',
    ToolFamily.LLAMA: '{"name": "weather", "parameters": {"city": "Bern", "days": 3}}',
    ToolFamily.MISTRAL: '[TOOL_CALLS][{"name": "weather", "arguments": {"city": "Bern"}, "id": "abc"}]',
    ToolFamily.MISTRAL_ARGS: '[TOOL_CALLS]weather[ARGS]{"city": "Bern"}',
    ToolFamily.QWEN_XML: "<tool_call>\n<function=weather>\n<parameter=city>\nBern\n</parameter>\n"
    "<parameter=days>\n3\n</parameter>\n</function>\n</tool_call>",
}


@pytest.mark.parametrize("family", ToolFamily)
def test_a_call_in_the_format_of_a_family_is_legal(family):
    good = GOOD[family]
    assert allows(family, good)
    case = FailureCase(constraints=TOOLS, output=good.encode())
    assert [made.family for made in call_grammars(case)] == [family]
    assert not allows(family, good.replace("weather", "whether"))
    assert not allows(family, good.replace("city", "town"))
    assert not allows(family, good[:-1])


@pytest.mark.parametrize("family", [one for one in ToolFamily if one is not ToolFamily.QWEN_XML])
def test_references_stay_within_the_schema_of_their_tool(family):
    good = (
        GOOD[family]
        .replace("weather", "tree")
        .replace('{"city": "Bern", "days": 3}', "{}")
        .replace('{"city": "Bern"}', "{}")
    )
    good = good.replace("{}", '{"t": [[], [[]]]}')
    assert allows(family, good)
    assert not allows(family, good.replace("[[]]", "[1]"))


def test_free_text_may_stand_around_calls_that_are_not_required():
    text = f"I look.\n{GOOD[ToolFamily.HERMES]}\n{GOOD[ToolFamily.HERMES]}"
    assert allows(ToolFamily.HERMES, text)
    assert allows(ToolFamily.HERMES, "No tool.", "auto")
    assert not allows(ToolFamily.HERMES, "No tool.", "required")


def test_a_choice_is_of_several_tools_that_may_be_called():
    assert len(call_grammars(FailureCase(constraints=TOOLS))) == len(ToolFamily)
    assert call_grammars(FailureCase(constraints=TOOLS[:1])) == ()
    assert call_grammars(FailureCase(constraints=TOOLS, tool_choice="weather")) == ()
    assert call_grammars(FailureCase(constraints=TOOLS, tool_choice="none")) == ()


def test_parameters_as_elements_have_their_types_and_any_text():
    good = GOOD[ToolFamily.QWEN_XML]
    assert not allows(ToolFamily.QWEN_XML, good.replace("\n3\n", "\nthree\n"))
    assert allows(ToolFamily.QWEN_XML, good.replace("Bern", "a < b\n</param>\n{"))
    assert not allows(ToolFamily.QWEN_XML, good.replace("Bern", "a\n</parameter>"))
    unit = "<parameter=unit>\n{}\n</parameter>\n</function>"
    assert allows(ToolFamily.QWEN_XML, good.replace("</function>", unit.format("C")))
    assert not allows(ToolFamily.QWEN_XML, good.replace("</function>", unit.format("K")))


def test_a_family_is_known_by_the_name_of_the_model_too():
    names = {
        "Qwen/Qwen3-Coder-30B": [ToolFamily.QWEN_XML],
        "Qwen/Qwen2.5-7B-Instruct": [ToolFamily.HERMES],
        "NousResearch/Hermes-2-Pro": [ToolFamily.HERMES],
        "meta-llama/Llama-3.1-8B": [ToolFamily.LLAMA],
        "mistralai/Mistral-Small": [ToolFamily.MISTRAL, ToolFamily.MISTRAL_ARGS],
    }
    cases = {name: FailureCase(constraints=TOOLS, output=b"Hello", model=name) for name in names}
    assert {name: [made.family for made in call_grammars(case)] for name, case in cases.items()} == names
