"""Definitions, uses and renaming, held against the parsers where the text can be read."""

from __future__ import annotations

import json

import pytest
from corpora import cases

from engine import GrammarError, Limits, SourceText, compile_grammar
from engine.grammar.analysis import references
from engine.notations import NOTATIONS
from engine.notations.editing import Name, apply_edits, name_at
from engine.notations.gbnf.parser import parse
from engine.notations.json_schema.dialects import SchemaDraft
from engine.notations.json_schema.findings import SchemaFindings
from engine.notations.json_schema.json_tree import Json, read_json
from engine.notations.json_schema.outline import Outline
from engine.notations.json_schema.resources import Resources
from engine.notations.json_schema.targets import SchemaTargets

SCHEMA = (
    '{"$defs": {"a b": {"properties": {"x": {}}}, "n": {"$anchor": "q"}}, "anyOf": [{"$ref": "#/$defs/a%20b"}, '
    '{"$ref": "#/$defs/a%20b/properties/x"}, {"$ref": "#q"}], "items": {"$ref": "#"}, "const": {"$ref": "#/$defs/n"}}'
)


def named(notation: str, text: str, name: str) -> Name:
    return next(found for found in NOTATIONS[notation].names(text) if found.text == name)


def test_rules_are_found_where_they_are_meant() -> None:
    text = 'root ::= a b{2,3} <b> "b" [b]\na ::= b # b\n'
    found = {name.text: (len(name.definitions), len(name.uses)) for name in NOTATIONS["gbnf"].names(text)}
    assert found == {"root": (1, 0), "a": (1, 1), "b": (0, 2)}
    assert name_at(NOTATIONS["gbnf"].names(text), 10) == named("gbnf", text, "a")  # right behind it
    assert name_at(NOTATIONS["gbnf"].names(text), text.index('"b"') + 1) is None
    assert NOTATIONS["regex"].names("(?P<n>a)") == ()


def test_an_open_quote_hides_no_rule_below() -> None:
    assert [n.text for n in NOTATIONS["gbnf"].names('root ::= "a b\nitem ::= [^\nlast ::= item')] == [
        "root",
        "item",
        "last",
    ]


def test_rules_are_those_of_the_parser() -> None:
    compared = 0
    for corpus in ("llama", "xgrammar", "outlines"):
        for case in cases(corpus):
            if case["kind"] != "gbnf":
                continue
            try:
                grammar, findings = parse(SourceText(case["source"]), Limits())
            except GrammarError:
                continue
            if any(f.code in {"gbnf-duplicate-rule", "gbnf-unproductive-rule"} for f in findings):
                continue  # the parser keeps no more than the last one, or nothing of it
            mine = {n.text: n for n in NOTATIONS["gbnf"].names(case["source"]) if n.definitions}
            assert {r.name: (r.span,) for r in grammar.rules} == {n: name.definitions for n, name in mine.items()}
            uses = sorted(ref.span for rule in grammar.rules for ref in references(rule.node))
            assert uses == sorted(span for name in mine.values() for span in name.uses)
            compared += 1
    assert compared > 50


def test_references_lead_where_the_reader_follows_them() -> None:
    compared = 0
    for corpus in ("jsts_2020", "maskbench"):
        for case in cases(corpus)[:1500]:
            text = case.get("source") or json.dumps(case.get("schema"), ensure_ascii=False)
            if "$ref" not in text or len(text) > 20_000:
                continue
            root = read_json(text)
            resources = Resources(root, SchemaDraft.DRAFT_2020, SchemaFindings(lenient=True))
            by_span: dict[object, Json] = {}
            todo = [root]
            while todo:
                part = todo.pop()
                by_span[part.span] = part
                todo += [*part.members.values(), *part.items]
            for reference in SchemaTargets(Outline(text)).references:
                holder = reference.part.holder
                assert holder is not None
                if reference.part.name != "$ref" or holder.span not in by_span:
                    continue
                node = by_span[holder.span]
                if resources.home(node).draft < SchemaDraft.DRAFT_2019 and len(node.members) > 1:
                    continue  # where `$ref` hides what stands beside it, an editor still shows where it would lead
                theirs = resources.resolve(node, by_span[reference.part.span])
                mine = reference.target
                assert (mine and mine.span) == (theirs and theirs.span), (text, reference.part.text)
                compared += 1
    assert compared > 10


def test_a_definition_is_renamed_wherever_a_reference_goes_through_it() -> None:
    renamed = NOTATIONS["json_schema"].rename(SCHEMA, named("json_schema", SCHEMA, "a b"), "c/d")
    after = apply_edits(SCHEMA, renamed.edits)
    assert '"c/d": {"properties"' in after
    assert '"#/$defs/c~1d"' in after
    assert '"#/$defs/c~1d/properties/x"' in after
    assert "a b" not in after
    assert "a%20b" not in after
    assert compile_grammar("json_schema", after).diagnostics == ()


def test_an_anchor_is_renamed() -> None:
    after = apply_edits(SCHEMA, NOTATIONS["json_schema"].rename(SCHEMA, named("json_schema", SCHEMA, "q"), "r").edits)
    assert '"$anchor": "r"' in after
    assert '"$ref": "#r"' in after


RESOURCES = (
    '{"$defs": {"a": {"$anchor": "p"}, "b": {"$id": "other", "$anchor": "q", "$defs": {"c": {"$dynamicAnchor": "d"}}}},'
    ' "allOf": [{"$ref": "#p"}, {"$ref": "other#q"}], "$dynamicAnchor": "e"}'
)


def test_a_rule_may_take_a_name_that_is_used_but_not_defined() -> None:
    text = 'root ::= castle " " castel\ncastel ::= "x"\n'
    renamed = NOTATIONS["gbnf"].rename(text, named("gbnf", text, "castel"), "castle")
    assert apply_edits(text, renamed.edits) == 'root ::= castle " " castle\ncastle ::= "x"\n'
    assert "not defined" in renamed.note


def test_an_undefined_rule_may_take_a_name_that_is_defined() -> None:
    text = 'root ::= castle\ncastel ::= "x"\n'
    renamed = NOTATIONS["gbnf"].rename(text, named("gbnf", text, "castle"), "castel")
    assert apply_edits(text, renamed.edits) == 'root ::= castel\ncastel ::= "x"\n'
    assert not renamed.note


def test_a_definition_may_take_a_name_that_is_used_but_not_defined() -> None:
    text = '{"$defs": {"castel": {}}, "items": {"$ref": "#/$defs/castle"}, "not": {"$ref": "#/$defs/castel"}}'
    renamed = NOTATIONS["json_schema"].rename(text, named("json_schema", text, "castel"), "castle")
    assert apply_edits(text, renamed.edits) == text.replace("castel", "castle")
    assert "not defined" in renamed.note


def test_an_anchor_may_take_a_name_that_is_used_but_not_defined() -> None:
    text = '{"$defs": {"a": {"$anchor": "castel"}}, "items": {"$ref": "#castle"}, "not": {"$ref": "#castel"}}'
    renamed = NOTATIONS["json_schema"].rename(text, named("json_schema", text, "castel"), "castle")
    assert apply_edits(text, renamed.edits) == text.replace("castel", "castle")
    assert "not defined" in renamed.note


def test_a_reference_to_nothing_is_renamed() -> None:
    text = '{"$defs": {"castel": {}}, "items": {"$ref": "#/$defs/castle"}, "not": {"$ref": "#tower"}}'
    assert named("json_schema", text, "castle").kind == "definition"
    renamed = NOTATIONS["json_schema"].rename(text, named("json_schema", text, "castle"), "castel")
    assert apply_edits(text, renamed.edits) == text.replace("castle", "castel")
    renamed = NOTATIONS["json_schema"].rename(text, named("json_schema", text, "tower"), "keep")
    assert apply_edits(text, renamed.edits) == text.replace("tower", "keep")
    assert "begins with" in NOTATIONS["json_schema"].rename(text, named("json_schema", text, "tower"), "1").refusal


def test_a_reference_to_another_document_has_no_name() -> None:
    assert (
        NOTATIONS["json_schema"].names('{"items": {"$ref": "https://example.org/x#/$defs/a"}, "not": {"$ref": "#/a"}}')
        == ()
    )


def test_anchors_of_two_resources_may_have_one_name() -> None:
    renamed = NOTATIONS["json_schema"].rename(RESOURCES, named("json_schema", RESOURCES, "p"), "q")
    assert apply_edits(RESOURCES, renamed.edits) == RESOURCES.replace('"p"', '"q"').replace('"#p"', '"#q"')
    # A dynamic anchor is looked for in all resources.
    assert "already" in NOTATIONS["json_schema"].rename(RESOURCES, named("json_schema", RESOURCES, "d"), "e").refusal


def test_data_is_no_reference() -> None:
    assert named("json_schema", SCHEMA, "n").uses == ()


@pytest.mark.parametrize(
    ("notation", "text", "name", "new", "word"),
    [
        ("gbnf", "root ::= a b\na ::= b\nb ::= a", "a", "b", "already"),
        ("gbnf", "root ::= a", "a", "b c", "letters"),
        ("gbnf", "root ::= a", "a", "", "letters"),
        ("gbnf", "root ::= a", "root", "start", "begins with"),
        ("json_schema", SCHEMA, "a b", "n", "already"),
        ("json_schema", SCHEMA, "a b", "", "one character"),
        ("json_schema", SCHEMA, "q", "1", "anchor"),
        ("json_schema", SCHEMA, "x", "y", "Only"),
        ("json_schema", SCHEMA, "#", "y", "whole"),
    ],
)
def test_a_name_that_cannot_be_taken_is_refused(notation: str, text: str, name: str, new: str, word: str) -> None:
    refused = NOTATIONS[notation].rename(text, named(notation, text, name), new)
    assert not refused.edits
    assert word in refused.refusal


def test_a_rule_is_renamed_with_all_its_uses() -> None:
    text = 'root ::= a a-b "a"\na ::= root | a # a'
    renamed = NOTATIONS["gbnf"].rename(text, named("gbnf", text, "a"), "item")
    assert apply_edits(text, renamed.edits) == 'root ::= item a-b "a"\nitem ::= root | item # a'
    assert NOTATIONS["gbnf"].rename(text, named("gbnf", text, "a"), "a").edits == ()
