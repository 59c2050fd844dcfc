import json

from engine import compile_grammar
from engine.export import to_gbnf
from engine.export.schema import strings


def test_a_condition_that_many_properties_share_is_determinised_once(monkeypatch):
    made = []
    monkeypatch.setattr(
        strings, "character_system", lambda *a, make=strings.character_system, **k: made.append(1) or make(*a, **k)
    )
    text = {"type": "string", "pattern": "^(?=.*a)[a-c]*b$"}
    schema = {"properties": {f"p{i}": {"properties": {"x": text, "y": {"minimum": i}}} for i in range(5)}}
    grammar = to_gbnf(compile_grammar("json_schema", json.dumps(schema)))
    assert len(made) == 1
    assert compile_grammar("gbnf", grammar.text).fullmatch('{"p0": {"x": "ab"}, "p4": {"x": "bacb"}}')
