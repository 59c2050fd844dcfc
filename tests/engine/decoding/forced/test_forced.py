"""What a schema forces but for white space and escapes, held against the same schema in its one plain spelling."""

from __future__ import annotations

import json
import random

import pytest
from random_model import RandomModel

from engine.compile import CompileOptions, compile_grammar
from engine.decoding import Finish, PipelineSettings, SamplerSettings, ZoneSettings
from engine.decoding.fast_forward import FastForward
from engine.decoding.forced.compact_json import compactly_forced
from engine.decoding.generate import generate
from engine.decoding.session import DecodeSession
from engine.export import NumberSpelling, to_gbnf
from engine.matching import Matcher
from engine.source.json_scanner import is_in_character, is_in_escape
from engine.vocabulary import Vocabulary

BYTES = Vocabulary([*(bytes((byte,)) for byte in range(256)), None], [256])


def closed(**properties):
    return {"properties": properties, "required": list(properties), "additionalProperties": False, "type": "object"}


SCHEMAS = {
    "people": closed(name={"enum": ["John", "Paul"]}, age={"enum": ["twenty", "thirty"]}),
    "escaped": closed(a={"enum": ['say "x"', 'say "y"']}, b={"const": "tab\there\\ and/or \x01"}),
    "beyond ASCII": closed(é={"enum": ["日本", "日曜"]}, s={"const": "😀!"}, t={"enum": ["è", "é"]}),
    "blanks": closed(a={"enum": ["a b", "a  c"]}),
    "list": {"type": "array", "items": {"const": "x"}, "minItems": 2, "maxItems": 2},
    "words": closed(a={"type": "boolean"}, b={"type": "null"}),
    "free": closed(text={"type": "string", "maxLength": 3}, end={"const": "done"}),
    "either": {"anyOf": [closed(a={"const": 'x\n"'}), closed(ab={"const": "y"})]},
}


@pytest.mark.parametrize("schema", SCHEMAS.values(), ids=SCHEMAS)
@pytest.mark.parametrize("whitespace", ["compact", "flexible", "any"])
def test_it_is_what_the_plain_spelling_forces(schema, whitespace):
    grammar = compile_grammar("json_schema", json.dumps(schema), CompileOptions(whitespace=whitespace))
    compact = compile_grammar("json_schema", json.dumps(schema), CompileOptions(whitespace="compact"))
    plain = compile_grammar("gbnf", to_gbnf(compact, NumberSpelling.PLAIN).text)
    for seed in range(4):
        chance, matcher, twin, read = random.Random(seed), Matcher(grammar, BYTES), Matcher(plain, BYTES), b""
        while not twin.is_finished and len(read) < 200:
            ours, theirs = compactly_forced(matcher, read, 1_000), twin.forced_bytes(1_000)
            assert theirs.startswith(ours)
            # The first bytes that two characters, or two escapes, share are no character; theirs stop within it.
            missing = theirs[len(ours) :]
            assert is_in_escape(read) or is_in_character(missing) or missing in (b"", b"\\"), (read, ours, theirs)
            drawn = chance.choice([i for i in range(BYTES.size) if twin.is_allowed(i)])
            twin.accept(drawn)
            assert matcher.accept(drawn)
            read += BYTES.tokens[drawn] or b""


def test_what_was_begun_otherwise_is_ended_otherwise():
    grammar = compile_grammar("json_schema", json.dumps({"const": "né"}), CompileOptions(escapes="any"))
    for read, forced in (
        (b'"', 'né"'.encode()),
        (b'"\\', b"u006"),
        (b'"\\u006e', 'é"'.encode()),
        (b'"n\xc3', b"\xa9"),
        (b'"n\\u00', b""),  # E9 and e9
    ):
        matcher = Matcher(grammar, BYTES)
        assert matcher.accept_bytes(read)
        assert compactly_forced(matcher, read, 100).startswith(forced)
        assert compactly_forced(matcher, read, 100)[:1] == forced[:1]


@pytest.mark.parametrize("schema", SCHEMAS.values(), ids=SCHEMAS)
@pytest.mark.parametrize("strategy", ["longest", "own", "probable"])
def test_outputs_match_and_are_mostly_not_asked_for(schema, strategy):
    grammar = compile_grammar("json_schema", json.dumps(schema))
    for seed in range(3):
        model, sampler = RandomModel(BYTES), SamplerSettings(seed=seed)
        made = generate(grammar, model, sampler=sampler, pipeline=PipelineSettings(forced=strategy), max_tokens=400)
        assert made.finish is Finish.STOP
        assert grammar.fullmatch(made.output)
        unasked = sum(not step.was_queried for step in made.steps)
        asked = len(made.steps) - unasked
        if strategy == "longest":
            assert len(model.asked) == asked
        assert unasked > asked or schema is SCHEMAS["free"]


def test_in_a_zone_it_is_the_schemas_own_text_that_counts():
    schema = compile_grammar("json_schema", json.dumps(SCHEMAS["people"]))
    pipeline = PipelineSettings(zones=ZoneSettings(after='"=', until="!"), forced="longest")
    session = DecodeSession(schema, RandomModel(BYTES), pipeline=pipeline)
    fast_forward = FastForward.of(session)
    assert not fast_forward.extend(session)  # free text, in which the quotation mark opens no string
    for byte in b'x"=':
        session.take(byte)
    assert fast_forward.extend(session)
    assert session.output == b'x"={"name":"'
    session.take(ord("P"))
    assert fast_forward.extend(session)
    assert session.output.endswith(b'"Paul","age":"t')


def test_after_a_token_was_forced_nothing_is():
    session = DecodeSession(
        compile_grammar("regex", "abc"), RandomModel(BYTES), pipeline=PipelineSettings(forced="longest")
    )
    session.force(ord("x"))
    assert not FastForward.of(session).extend(session)
