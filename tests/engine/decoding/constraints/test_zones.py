"""Grammars that rule a part of an output, held against splitting whole outputs by hand."""

from __future__ import annotations

import itertools
import re

import numpy as np
import pytest
from error_keys import raises_key
from hypothesis import given, settings
from hypothesis import strategies as st
from random_model import RandomModel

from engine import Matcher, Vocabulary, compile_grammar
from engine.decoding.constraints.triggers import Triggers
from engine.decoding.constraints.zones import Zone, zoned
from engine.decoding.errors import DeadEndError
from engine.decoding.generate import generate
from engine.decoding.pipeline_settings import Afterwards, PipelineSettings, ZoneSettings
from engine.decoding.session import DecodeSession
from engine.decoding.values import Finish, SamplerSettings
from engine.source import InvariantError
from engine.vocabulary import VocabularyError

BYTES = Vocabulary([bytes((byte,)) for byte in range(256)], [])
NUMBER = compile_grammar("regex", "[12]+")
PAIR = compile_grammar("gbnf", 'root ::= "(" root? ")"')
STOP, FREE, AGAIN = Afterwards


def trigger_ends(text: bytes, trigger: bytes, start: int) -> int | None:
    """Where the first trigger ends, from a place on."""
    at = text.find(trigger, start)
    return None if at < 0 else at + len(trigger)


def slow_match(text: bytes, zone: Zone, then: Afterwards, *, required: bool) -> bool:
    """Whether a whole output matches: every way to split it."""
    after, until = zone.after.encode(), zone.until.encode()

    def from_free(start: int, done: bool) -> bool:
        ends_here = done or not required
        if done and then is FREE:
            return True
        begun = trigger_ends(text, after, start)
        return ends_here if begun is None else from_grammar(begun)

    def from_grammar(start: int) -> bool:
        for end in range(start, len(text) + 1):
            if not zone.grammar.fullmatch(text[start:end]) or not text.startswith(until, end):
                continue
            behind = end + len(until)
            if behind == len(text) or (then is not STOP and from_free(behind, done=True)):
                return True
        return False

    return from_free(0, done=False) if after else from_grammar(0)


ZONES = [Zone(NUMBER, after="=="), Zone(PAIR, after="=", until=";"), Zone(NUMBER, until="=="), Zone(PAIR)]


@pytest.mark.parametrize("zone", ZONES, ids=range(len(ZONES)))
@pytest.mark.parametrize("then", [STOP, FREE, AGAIN])
@pytest.mark.parametrize("required", [True, False])
def test_an_output_matches_where_some_split_of_it_does(zone, then, required):
    if then is AGAIN and not zone.after:
        with raises_key(InvariantError, "errors.decoding.zones.again"):
            zoned([zone], BYTES, then)
        return
    language = zoned([zone], BYTES, then, required=required)
    for length in range(6):
        for letters in itertools.product(b"=1();", repeat=length):
            text = bytes(letters)
            assert language.fullmatch(text) == slow_match(text, zone, then, required=required), text


TOKENS = [b"=", b"==", b"=1", b"1", b"12", b"x", b"x=", b"==1", b"1=", b"=x", b"===", b"1x", b"2;x", b";", b"==x", None]
STRADDLING = Vocabulary(TOKENS, [15])


@given(st.integers(0, 10_000), st.sampled_from([STOP, FREE, AGAIN]), st.sampled_from(["", ";"]))
@settings(max_examples=150, deadline=None)
def test_a_token_across_a_border_is_allowed_exactly_where_its_bytes_are(seed, then, until):
    zone = Zone(NUMBER, after="==", until=until)
    language = zoned([zone], STRADDLING, then)
    automaton, matcher = language.automaton, Matcher(language, STRADDLING)
    rng, text = np.random.default_rng(seed), b""
    for _ in range(8):
        allowed = [i for i in range(len(TOKENS)) if matcher.is_allowed(i)]
        assert allowed == np.flatnonzero(unpacked(matcher)).tolist()
        for token_id, token in enumerate(TOKENS[:-1]):
            assert (token_id in allowed) == (automaton.run(automaton.start, text + token) != 0)
        assert (15 in allowed) == slow_match(text, zone, then, required=True)
        taken = int(rng.choice(allowed))
        assert matcher.accept(taken)
        if taken == 15:
            return
        text += TOKENS[taken]


def unpacked(matcher: Matcher) -> np.ndarray:
    return np.unpackbits(matcher.bitmask().view(np.uint8), bitorder="little", count=len(TOKENS))


def test_the_rest_of_the_token_that_ends_the_trigger_is_the_grammars():
    session = DecodeSession(NUMBER, RandomModel(STRADDLING), pipeline=PipelineSettings(zones=ZoneSettings(after="==")))
    session.take(0)
    allowed = {row.token for row in session.position().candidates if row.allowed}
    assert b"=1" in allowed  # `==` and then `1`
    assert b"=x" not in allowed  # `x` is no number
    assert b"1x" in allowed  # no trigger
    assert session.position().parts == ("free text",)
    session.take(2)
    assert session.position().parts == ("grammar", "end")
    assert {row.token for row in session.position().candidates if row.allowed} == {b"1", b"12", None}


# Think, then answer in JSON.

SCHEMA = '{"type": "object", "properties": {"n": {"enum": [1, 22]}}, "required": ["n"], "additionalProperties": false}'
ANSWER = compile_grammar("json_schema", SCHEMA)
WORDS = [
    b"<",
    b"/th",
    b"ink",
    b">",
    b">\n",
    b"\n",
    b"so ",
    b"hm",
    b'{"',
    b"n",
    b'":',
    b" 22",
    b"1",
    b"}",
    b'>{"n',
    b"</think>",
]
QWEN = Vocabulary([*WORDS, b"2", b'"', b":", b"{", b" ", None], [len(WORDS) + 5])


def thought_then_json(text: str) -> bool:
    found = re.fullmatch(r"((?:(?!</think>).)*</think>)(.*)", text, re.DOTALL)
    return found is not None and ANSWER.fullmatch(found[2])


def test_thinking_is_free_and_what_follows_is_json():
    pipeline = PipelineSettings(zones=ZoneSettings(after="</think>"))
    finished = 0
    for seed in range(60):
        made = generate(
            ANSWER, RandomModel(QWEN), sampler=SamplerSettings(seed=seed), max_tokens=120, pipeline=pipeline
        )
        if made.finish is Finish.STOP:
            finished += 1
            assert thought_then_json(made.text), made.text
    assert finished >= 5


def test_within_a_budget_the_thinking_ends_in_time():
    pipeline = PipelineSettings(zones=ZoneSettings(after="</think>"), budget=True)
    for seed in range(60):
        made = generate(ANSWER, RandomModel(QWEN), sampler=SamplerSettings(seed=seed), max_tokens=14, pipeline=pipeline)
        assert made.finish is Finish.STOP
        assert thought_then_json(made.text), made.text


def test_the_trigger_is_found_across_tokens():
    session = DecodeSession(ANSWER, RandomModel(QWEN), pipeline=PipelineSettings(zones=ZoneSettings(after="</think>")))
    for word in (b"so ", b"<", b"/th", b"ink"):
        session.take(WORDS.index(word))
    allowed = {row.token for row in session.position().candidates if row.allowed}
    assert {b">", b'>{"n', b"hm"} <= allowed
    assert None not in allowed  # the answer is still to come
    session.take(WORDS.index(b'>{"n'))
    assert {row.token for row in session.position().candidates if row.allowed} == {b'":', b'"'}
    assert session.position().grammar_text == b'{"n'
    for _ in range(3):
        session.back()
    assert session.position().parts == ("free text",)
    session.take(WORDS.index(b"hm"))
    session.go_to(session.trace.nodes[4].id)
    assert session.text == 'so </think>{"n'
    fresh = DecodeSession(ANSWER, RandomModel(QWEN), pipeline=session.pipeline)
    assert fresh.restore(session.trace) == 0
    assert fresh.text == session.text
    assert fresh.position().candidates == session.position().candidates


# By special token, and several times.

SPECIAL = Vocabulary(
    [b"x", b"1", b"2", b"12x", None, None, None, b"<call>"], [6], {4: "<call>", 5: "<other>", 6: "end"}
)


def take_all(session: DecodeSession, ids: list[int]) -> DecodeSession:
    for token_id in ids:
        session.take(token_id)
    return session


def allowed_ids(session: DecodeSession) -> list[int]:
    return sorted(row.token_id for row in session.position().candidates if row.allowed)


def test_a_special_token_begins_it_and_in_free_text_others_may_stand():
    zones = ZoneSettings(after_token="<other>", then=AGAIN, required=False)
    session = DecodeSession(NUMBER, RandomModel(SPECIAL), pipeline=PipelineSettings(zones=zones))
    assert allowed_ids(session) == [0, 1, 2, 3, 4, 5, 6, 7]
    take_all(session, [0, 4, 5])
    assert allowed_ids(session) == [1, 2, 3]  # `12x` leaves the number again
    take_all(session, [1])
    assert allowed_ids(session) == list(range(8))
    take_all(session, [5, 1, 0, 5])
    assert allowed_ids(session) == [1, 2, 3]
    assert session.position().grammar_text == b""
    take_all(session, [2])
    assert session.position().grammar_text == b"2"
    take_all(session, [0])
    assert session.position().grammar_text is None
    session.back()
    assert session.position().grammar_text == b"2"
    take_all(session, [6])
    assert session.finish is Finish.STOP
    assert session.is_accepting


def test_a_special_token_of_the_triggers_name_begins_it_like_the_text():
    zones = ZoneSettings(after="<call>")
    for trigger in (4, 7):
        session = DecodeSession(NUMBER, RandomModel(SPECIAL), pipeline=PipelineSettings(zones=zones))
        assert 6 not in allowed_ids(session)
        take_all(session, [0, trigger])
        assert allowed_ids(session) == [1, 2]


def test_with_a_budget_special_triggers_come_in_time_too():
    pipeline = PipelineSettings(zones=ZoneSettings(after_token="<other>"), budget=True)
    for seed in range(30):
        made = generate(
            NUMBER, RandomModel(SPECIAL), sampler=SamplerSettings(seed=seed), max_tokens=5, pipeline=pipeline
        )
        ids = [step.token_id for step in made.steps]
        assert made.finish is Finish.STOP
        assert 5 in ids
        assert set(ids[ids.index(5) + 1 : -1]) <= {1, 2}
        assert len(ids) <= 5


def test_a_token_that_is_not_there_is_refused():
    with raises_key(VocabularyError, "errors.decoding.zones.no_token", name="<none>"):
        zoned([Zone(NUMBER, after_token="<none>")], SPECIAL)
    with raises_key(InvariantError, "errors.decoding.zones.none"):
        zoned([], SPECIAL)
    with raises_key(InvariantError, "errors.decoding.zones.at_once"):
        zoned([Zone(NUMBER), Zone(PAIR, after="x")], SPECIAL)
    with raises_key(InvariantError, "errors.decoding.zones.again"):
        ZoneSettings(then=AGAIN)


def test_whichever_trigger_comes_first_begins_its_zone():
    language = zoned([Zone(NUMBER, after="n:"), Zone(PAIR, after="p:")], BYTES, AGAIN)
    assert language.fullmatch("x n:12 and p:(()) or n:1")
    assert not language.fullmatch("x n:() ")
    assert not language.fullmatch("p:12")
    assert not language.fullmatch("neither")


def test_an_empty_grammar_never_lets_the_trigger_come():
    empty = compile_grammar("regex", r"a\bb")
    session = DecodeSession(empty, RandomModel(STRADDLING), pipeline=PipelineSettings(zones=ZoneSettings(after="==")))
    assert session.finish is Finish.DEAD_END
    with pytest.raises(DeadEndError):
        session.step()


def test_distances_are_what_a_plain_search_says():
    zone = Zone(PAIR, after="ab", until=";")
    language = zoned([zone], BYTES)
    automaton = language.automaton
    for text, missing in ((b"", b"ab();"), (b"xa", b"b();"), (b"ab", b"();"), (b"ab((", b"));"), (b"ab()", b";")):
        configuration = automaton.run(automaton.start, text)
        found = automaton.shortest_completion(configuration, 1000)
        assert (found.at_least, found.at_most, found.text) == (len(missing), len(missing), missing)
        assert automaton.min_remaining(configuration).at_least == len(missing)
    assert automaton.shortest_completion(automaton.run(automaton.start, b"ab();"), 10).text == b""


@given(st.lists(st.text("ab", min_size=1, max_size=4), min_size=1, max_size=3), st.text("abc", max_size=12))
def test_the_first_text_that_is_complete_is_found(texts, written):
    triggers = Triggers([text.encode() for text in texts])
    state, found = 0, None
    for end, char in enumerate(written.encode(), 1):
        state = triggers.step(state, char)
        found = triggers.completed[state]
        complete = [text for text in texts if written[:end].endswith(text)]
        assert (found is not None) == bool(complete)
        if found is not None:
            assert texts[found] in complete
            return
        for index, rest in triggers.nearest(state).items():
            assert (written[:end] + rest.decode("latin-1")).endswith(texts[index])
