"""What is proposed, where; `¦` marks the cursor."""

from __future__ import annotations

import pytest
from corpora import cases

from engine import CompileOptions, compile_grammar
from engine.notations import NOTATIONS
from engine.notations.editing import Edit, Proposals, apply_edits
from engine.notations.gbnf.reference import escape_meanings
from engine.notations.json_schema import outline, reference
from engine.notations.json_schema.dialects import ENFORCED, LIST, NAMED, ONE
from engine.notations.json_schema.formats import NAMES
from engine.notations.json_schema.lowering import TYPES


def at(notation: str, text: str) -> Proposals:
    offset = text.index("¦")
    return NOTATIONS[notation].propose(text.replace("¦", ""), offset)


def labels(notation: str, text: str) -> list[str]:
    return [proposal.label for proposal in at(notation, text).proposals]


def taken(notation: str, text: str, label: str) -> str:
    """The text after a proposal was taken, with its cursor."""
    found = at(notation, text)
    proposal = next(p for p in found.proposals if p.label == label)
    caret = found.span.start + (len(proposal.text) if proposal.caret is None else proposal.caret)
    after = apply_edits(text.replace("¦", ""), [Edit(found.span, proposal.text)])
    return f"{after[:caret]}¦{after[caret:]}"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('root ::= it¦\nitem ::= "a"', ["item"]),
        ('root ::= ¦\nitem ::= "a"', ["root", "item"]),
        ("root ::= a b a\nroot2 ::= c¦", []),
        ("root ::= item\n¦", ["item"]),  # what is used and not defined yet
        ("¦", ["root"]),
        ("root ::= item |\n¦", ["root", "item"]),
        ("root ::= (\n¦", ["root"]),
        ("root ::= a # ¦", []),
        ("root ::= <a¦>", []),
        ("root ::= a{1¦}", []),
        ('root ::= "a¦\nb ::= root', list(escape_meanings())),
        ("root ::= [a\\¦]", list(escape_meanings())),
        (r'root ::= "\\¦"', list(escape_meanings())),
    ],
)
def test_gbnf(text: str, expected: list[str]) -> None:
    assert labels("gbnf", text) == expected


def test_a_rule_tells_what_it_says() -> None:
    (item,) = at("gbnf", 'root ::= it¦\nitem ::= "a" | "b"\n').proposals
    assert item.detail == '"a" | "b"'
    assert taken("gbnf", 'root ::= it¦em\nitems ::= "a"', "items") == 'root ::= items¦\nitems ::= "a"'
    assert taken("gbnf", "root ::= item\n¦", "item") == "root ::= item\nitem ::= ¦"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"type": "¦"}', list(reference.TYPES)),
        ('{"type": ["null", "¦"]}', list(reference.TYPES)),
        ('{"type": st¦}', ["string"]),
        ('{"format": "idn¦"}', ["idn-email", "idn-hostname"]),
        ('{"$defs": {"a/b c": {}}, "items": {"$ref": "¦"}}', ["#", "#/$defs/a~1b%20c"]),
        ('{"$defs": {"a": {"$anchor": "here"}}, "$ref": "#h¦"}', ["#here"]),
        ('{"properties": {"a": {}, "b": {}}, "required": ["a", "¦"]}', ["b"]),
        ('{"properties": {"¦"}}', []),
        ('{"enum": [{"ty¦"}]}', []),
        ('{"anyOf": [{"typ¦"}]}', ["type"]),
        ('{"items": {"minI¦', ["minItems"]),
        ('{"if": {"pat¦": ""}', ["patternProperties", "pattern"]),
        ('{"additionalProperties": ¦}', ["false", "true"]),
        ('{"title": "typ¦"}', []),
        ('{"type": "integer", "m¦"}', ["minimum", "maximum", "multipleOf"]),
    ],
)
def test_json_schema(text: str, expected: list[str]) -> None:
    assert labels("json_schema", text)[: len(expected) or None] == expected


@pytest.mark.parametrize(
    ("text", "label", "expected"),
    [
        ('{"prop¦"}', "properties", '{"properties": {¦}}'),
        ('{"prop¦', "properties", '{"properties": {¦}'),
        ('{"prop¦": {}}', "properties", '{"properties"¦: {}}'),
        ('{"¦ "a": 1}', "type", '{"type": ¦ "a": 1}'),
        ("{¦}", "required", '{"required": [¦]}'),
        ('{"type": "¦"}', "string", '{"type": "string"¦}'),
    ],
)
def test_what_is_taken_leaves_the_rest(text: str, label: str, expected: str) -> None:
    assert taken("json_schema", text, label) == expected


def test_a_keyword_is_not_proposed_twice() -> None:
    assert "type" not in labels("json_schema", '{"type": "string", ¦}'.replace(", ¦", ', "¦"'))


@pytest.mark.parametrize("dialect", ["python", "ecma"])
def test_every_form_of_a_regex_compiles(dialect: str) -> None:
    for completion in (at("regex", "¦"), at("regex", "a¦"), at("regex", "a\\¦"), at("regex", "[a\\¦]")):
        assert completion.proposals
        for proposal in completion.proposals:
            text = {0: "", 1: "a"}.get(completion.span.start, "[a") + proposal.text
            text += "]" if completion.span.start == 2 else ""
            compile_grammar("regex", text, CompileOptions(dialect=dialect))  # type: ignore[arg-type]


def test_classes_have_no_boundaries() -> None:
    assert r"\b" not in labels("regex", "[a\\¦]")
    assert r"\b" in labels("regex", "a\\¦")
    assert r"\d" in labels("regex", "a\\¦")
    assert at("regex", r"\\¦").typed == ""


def test_every_gbnf_escape_compiles() -> None:
    for escape in escape_meanings():
        compile_grammar("gbnf", f'root ::= "{escape}"')


def test_the_words_are_those_of_the_reader() -> None:
    known = {name for group in reference.KEYWORDS.values() for name in group}
    assert ENFORCED - known == {"$recursiveRef"}  # of one old draft only
    assert set(reference.TYPES) == set(TYPES)
    assert set(reference.FORMATS) == NAMES
    assert (outline.ONE, outline.LIST, outline.NAMED) == (ONE, LIST, NAMED)


@pytest.mark.parametrize("notation", ["gbnf", "json_schema", "regex"])
def test_no_text_and_no_place_is_too_much(notation: str) -> None:
    """Half a text is the common case: every beginning of some texts, with every cursor at its end."""
    texts = [case["source"] for case in cases("llama")[:6]]
    texts += ['{"a": [1, {"b": "c\\"', 'root ::= "a\\" [^\\] ( !< {', "(?<=[^]]\\"]
    for text in texts:
        for end in range(min(len(text), 300) + 1):
            NOTATIONS[notation].propose(text[:end], end)
