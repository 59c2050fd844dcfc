"""Several zones in one output, as a document's settings say, held against splitting outputs by hand."""

from __future__ import annotations

import re

import pytest
from error_keys import raises_key
from random_model import RandomModel

from engine import Vocabulary, compile_grammar
from engine.decoding import Finish, SamplerSettings
from engine.decoding.constraints.zones import ZoneGrammars
from engine.decoding.errors import ZoneError
from engine.decoding.forced.strategies import STRATEGIES
from engine.decoding.generate import generate
from engine.decoding.pipeline_settings import Afterwards, OtherZone, PipelineSettings, ZoneSettings
from engine.decoding.session import DecodeSession
from engine.source import InvariantError

BYTES = Vocabulary([*(bytes((byte,)) for byte in range(256)), None], [256])
FEW = Vocabulary([*(bytes((byte,)) for byte in b"nap:;.12()x<>"), b"n:", b"a:1", b"p:(", b";n", None], [17])
NUMBER = compile_grammar("regex", "[12]+")
PAIR = OtherZone("gbnf", 'root ::= "(" root? ")"', after="p:", until=";")
FREE = OtherZone(after="a:", until=".")
ZONES = ZoneSettings(after="n:", until=";", then=Afterwards.AGAIN, others=(PAIR, FREE))


def slow_match(text: str, settings: ZoneSettings) -> bool:
    """Whether a whole output matches, zone by zone."""
    done = False
    while True:
        begins = [(text.find(trigger), trigger) for trigger in ("n:", "p:", "a:") if trigger in text]
        if not begins or (done and settings.then is Afterwards.FREE):
            return done or not settings.required
        at, trigger = min(begins)
        text = text[at + 2 :]
        inside, closing, text = text.partition("." if trigger == "a:" else ";")
        pairs = inside.count("(")
        fits = {
            "n:": re.fullmatch("[12]+", inside) is not None,
            "p:": pairs > 0 and inside == "(" * pairs + ")" * pairs,
            "a:": True,
        }
        if not (closing and fits[trigger]):
            return False
        done = True
        if settings.then is Afterwards.STOP:
            return not text


@pytest.mark.parametrize("then", Afterwards)
@pytest.mark.parametrize("required", [True, False])
def test_each_trigger_begins_its_own_grammar(then, required):
    settings = ZoneSettings("n:", until=";", then=then, required=required, others=(PAIR, FREE))
    language = ZoneGrammars(settings).around(NUMBER, BYTES)
    texts = "x n:12; n:(); p:(()); p:12; a:x. a:n:(). a:n:.n:1; n:1;p:();x p:(; a: n:1;x a:.. a:.n:1".split()
    for text in ["", *texts]:
        assert language.fullmatch(text) == slow_match(text, settings), text


@pytest.mark.parametrize("strategy", STRATEGIES.names)
def test_what_is_generated_matches(strategy):
    pipeline = PipelineSettings(zones=ZONES, budget=True, forced=strategy)
    met = set()
    for seed in range(20):
        made = generate(NUMBER, RandomModel(FEW), sampler=SamplerSettings(seed=seed), max_tokens=40, pipeline=pipeline)
        assert made.finish in (Finish.STOP, Finish.LENGTH)
        assert slow_match(made.text, ZONES)
        met |= {trigger for trigger in ("n:", "p:", "a:") if trigger in made.text}
    assert met == {"n:", "p:", "a:"}


def test_free_text_ends_where_its_closing_text_first_does():
    zones = ZoneSettings(after="n:", others=(OtherZone(after="a:", until="--*"),))
    language = ZoneGrammars(zones).around(NUMBER, BYTES)
    for text in ("a:--*", "a:x---*", "a:-é--*"):
        assert language.fullmatch(text)
    for text in ("a:--", "a:--*x", "a:--*--*", "a:---*--*"):
        assert not language.fullmatch(text)


def test_only_the_first_zone_is_that_of_the_drawn_grammar():
    session = DecodeSession(NUMBER, RandomModel(BYTES), pipeline=PipelineSettings(zones=ZONES))
    told = []
    for byte in b"p:();n:1":
        session.take(byte)
        told.append((session.grammar_text, session.position().parts))
    assert told[0] == (None, ("free text",))
    assert told[1] == (None, ("zone 2",))
    assert told[4] == (None, ("free text",))
    assert told[6] == (b"", ("grammar",))
    assert told[7][0] == b"1"


@pytest.mark.parametrize(
    ("zone", "key"),
    [
        (OtherZone("regex", "(a", after="x"), "errors.decoding.zones.compile"),
        (OtherZone("json_schema", "{", after="x"), "errors.decoding.zones.compile"),
        (OtherZone("regex", r"a\bb", after="x"), "errors.decoding.zones.no_text"),
    ],
)
def test_a_grammar_that_cannot_be_used_is_told_by_its_number(zone, key):
    settings = PipelineSettings(zones=ZoneSettings(after="n:", others=(PAIR, zone)))
    session = DecodeSession(NUMBER, RandomModel(BYTES))
    with raises_key(ZoneError, key, number=3):
        session.set_pipeline(settings)
    assert session.pipeline == PipelineSettings()


@pytest.mark.parametrize(
    ("make", "key", "values"),
    [
        (lambda: OtherZone("regex", "a"), "errors.decoding.zones.no_trigger", {}),
        (lambda: OtherZone(after="a"), "errors.decoding.zones.no_end", {}),
        (lambda: OtherZone("regex", after="a"), "errors.decoding.zones.no_grammar", {}),
        (lambda: ZoneSettings(others=(PAIR,)), "errors.decoding.zones.others", {}),
        (lambda: ZoneSettings(after="p:", others=(PAIR,)), "errors.decoding.zones.same_trigger", {"trigger": "'p:'"}),
        (lambda: ZoneSettings(after="xp:", others=(PAIR,)), "errors.decoding.zones.hidden_trigger", {"within": "'p:'"}),
    ],
)
def test_zones_that_could_not_be_told_apart_are_refused(make, key, values):
    with raises_key(InvariantError, key, **values):
        make()
