"""No cyclic garbage is collected while a grammar is written as rules."""

import gc

import pytest

from engine.compile import compile_grammar
from engine.export.rules.rule_builder import RuleBuilder
from engine.export.text.conversion import to_gbnf, to_regex


@pytest.mark.parametrize("write", [to_gbnf, to_regex])
def test_the_collector_rests_while_rules_are_written_and_goes_on_afterwards(write, monkeypatch):
    seen = []
    grammar = RuleBuilder.grammar

    def noted(builder):
        seen.append(gc.isenabled())
        return grammar(builder)

    monkeypatch.setattr(RuleBuilder, "grammar", noted)
    compiled = compile_grammar("json_schema", '{"enum":["a","b"]}')
    was_enabled = gc.isenabled()
    gc.enable()
    try:
        write(compiled)
        assert gc.isenabled()
    finally:
        if not was_enabled:
            gc.disable()
    assert seen == [False]
