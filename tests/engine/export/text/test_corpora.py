"""The conversion over a sample of the corpora: schemas that others wrote, with texts that they must take or refuse."""

from __future__ import annotations

import json

import corpora
import pytest
from lockstep import difference, excess

from engine.compile import CompiledGrammar, CompileOptions, compile_grammar
from engine.export import NumberSpelling, to_gbnf
from engine.source import GrammarError

EVERY = {"jsts_2020": 10, "llama": 6, "maskbench": 40}
"""One schema out of so many is taken."""

LONGEST = 8_000
REFUSALS = ("export-not-context-free", "export-too-large")
MODES = ("flexible", "compact", "one-space", "any")


def sample(name: str) -> list[tuple[str, list[str]]]:
    """Schemas, with their texts."""
    found = []
    for case in corpora.cases(name)[:: EVERY[name]]:
        if case.get("kind", "json_schema") != "json_schema" or case.get("compile_error"):
            continue
        source = json.dumps(case["schema"], ensure_ascii=False) if "schema" in case else case["source"]
        texts = [json.dumps(test["data"], ensure_ascii=False) for test in case.get("tests", ())]
        if len(source) <= LONGEST:
            found.append((source, [*texts, *case.get("accept", ()), *case.get("reject", ())]))
    return found


def compiled(source: str, whitespace: str) -> CompiledGrammar | None:
    """A schema; None where it does not compile, which other tests look into."""
    try:
        return compile_grammar("json_schema", source, CompileOptions(whitespace=whitespace))
    except GrammarError:
        return None


def written(schema: CompiledGrammar, spelling: NumberSpelling) -> CompiledGrammar | None:
    """The schema by way of its GBNF text; None where it is refused as it should be."""
    try:
        return compile_grammar("gbnf", to_gbnf(schema, spelling).text)
    except GrammarError as refused:
        if refused.diagnostics[0].code not in REFUSALS:
            raise
        return None


@pytest.mark.parametrize("name", EVERY)
def test_what_is_written_is_what_was_compiled(name):
    tried = converted = 0
    for number, (source, texts) in enumerate(sample(name)):
        schema = compiled(source, MODES[number % 4])
        if schema is None:
            continue
        for spelling in NumberSpelling:
            tried += 1
            grammar = written(schema, spelling)
            if grammar is None:
                continue
            converted += 1
            whole = spelling is NumberSpelling.ANY
            assert not any("compat" in found.code for found in grammar.diagnostics), source
            differ = difference if whole else excess
            assert differ(grammar, schema, walks=2, steps=30) == "", source
            for text in texts:
                assert grammar.fullmatch(text) <= schema.fullmatch(text), (source, text)
                assert not whole or grammar.fullmatch(text) == schema.fullmatch(text), (source, text)
    assert converted >= 0.75 * tried
