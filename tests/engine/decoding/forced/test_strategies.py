"""Forced runs taken without asking the model: every strategy, at every place, against the grammar."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest
from random_model import RandomModel

from engine.compile import compile_grammar
from engine.decoding import Finish, PipelineSettings, SamplerSettings
from engine.decoding.errors import DeadEndError
from engine.decoding.fast_forward import FastForward, fast_forward_tokens
from engine.decoding.forced.encodings import query_after
from engine.decoding.forced.strategies import STRATEGIES
from engine.decoding.generate import CountedSource, generate, generate_fast_forward
from engine.decoding.session import DecodeSession
from engine.decoding.values import StepOrigin
from engine.matching import Matcher
from engine.models.source import ModelError
from engine.vocabulary import Vocabulary

PEOPLE = r'\{"name":"(John|Paul)","age":(20|30)\}'
GRAMMARS = (
    PEOPLE,
    r'\{"a":"[a-z]{1,4}","name":(true|false|null)(,"é":"(è|é)")?\}',
    "name: (name|nam|na)+!",
    "(John|Jo|Joh)n? Paul",
    "abc(abc(abc(a|b)c)c)c",
    "é(à|á)é",
    "[a-z]{3}",
)
WHOLE = [bytes((byte,)) for byte in range(256)]
PIECES = [
    piece.encode()
    for piece in '{" name":" "," "age ":"J John ohn Paul Pa ul": name na nam ame me tr ue false null nul é è à '
    'ab bc abc ca 20 30 0} :" ," "} n"'.split()
]
TOKENS = Vocabulary([*WHOLE, *PIECES, b" Paul", b" n", b": n", None], [256 + len(PIECES) + 3])
FORWARDING = [strategy for strategy in STRATEGIES.names if strategy != "none"]


class Reader(RandomModel):
    """A random model whose tokenizer writes the longest token at each place."""

    def encode(self, text: str) -> list[int]:
        data, found, at = text.encode(), list[int](), 0
        known = {token: index for index, token in enumerate(self.vocabulary.tokens) if token}
        while at < len(data):
            ends = [end for end in range(at + 1, len(data) + 1) if data[at:end] in known]
            if not ends:
                raise ModelError("errors.models.silent_pip")
            found.append(known[data[at : ends[-1]]])
            at = ends[-1]
        return found or [0]


def text_of(ids: Sequence[int]) -> bytes:
    return b"".join(TOKENS.tokens[token_id] or b"" for token_id in ids)


@pytest.mark.parametrize("pattern", GRAMMARS)
@pytest.mark.parametrize("strategy", FORWARDING)
def test_at_every_place_of_random_texts_the_tokens_spell_what_is_forced(pattern, strategy):
    grammar = compile_grammar("regex", pattern)
    model = Reader(TOKENS)
    for seed in range(12):
        chance, taken = random.Random(seed), list[int]()
        matcher = Matcher(grammar, TOKENS)
        while not matcher.is_finished:
            forced, before = matcher.forced_bytes(), text_of(taken)
            found = fast_forward_tokens(
                matcher,
                strategy,
                taken=taken,
                encode=model.encode,
                query=lambda _named: query_after(model, [0, *taken]),  # noqa: B023
            )
            assert text_of(taken) == before  # nothing was appended
            allowed = [token_id for token_id in range(TOKENS.size) if matcher.is_allowed(token_id)]
            if found.tokens:
                kept = taken[: len(taken) - found.taken_back]
                after = text_of([*kept, *found.tokens])
                if forced:
                    assert (before + forced).startswith(after)
                    assert len(after) > len(before)
                else:
                    assert list(found.tokens) == allowed
                other = matcher.fork()
                other.rollback(found.taken_back)
                assert all(other.accept(token_id) for token_id in found.tokens)
                assert any(other.is_allowed(i) for i in range(TOKENS.size)) or other.is_accepting
            else:
                assert found.taken_back == 0
            drawn = chance.choice(allowed)
            matcher.accept(drawn)
            taken.append(drawn)


@pytest.mark.parametrize("pattern", GRAMMARS)
@pytest.mark.parametrize("strategy", STRATEGIES.names)
def test_whole_generations_match_and_ask_less(pattern, strategy):
    grammar = compile_grammar("regex", pattern)
    for seed in range(6):
        model = Reader(TOKENS)
        made = generate_fast_forward(grammar, model, strategy, sampler=SamplerSettings(seed=seed))
        assert made.generation.finish is Finish.STOP
        assert grammar.fullmatch(made.generation.output)
        assert made.calls == len(model.asked)
        steps = made.generation.steps
        assert made.unasked == sum(step.origin == StepOrigin.FAST_FORWARDED for step in steps)
        assert made.saved == len(steps) - made.calls
        if strategy in ("longest", "own"):
            assert made.calls - made.taken_back <= len(steps) - made.unasked


@pytest.mark.parametrize("pattern", GRAMMARS)
def test_none_is_as_if_nobody_had_looked(pattern):
    grammar = compile_grammar("regex", pattern)
    for seed in range(6):
        sampler = SamplerSettings(seed=seed)
        plain = generate(grammar, Reader(TOKENS), sampler=sampler)
        made = generate_fast_forward(grammar, Reader(TOKENS), "none", sampler=sampler)
        assert made.generation == plain
        assert (made.calls, made.saved, made.unasked) == (len(plain.steps), 0, 0)


def test_the_example_is_spelled_as_the_tokenizer_does_and_the_choice_is_healed():
    grammar = compile_grammar("regex", PEOPLE)
    model = Reader(TOKENS)
    made = generate_fast_forward(grammar, model, "own")
    text = made.generation.text
    ids = [step.token_id for step in made.generation.steps]
    assert ids[-1] in TOKENS.eos_ids
    assert ids[:-1] == model.encode(text)
    assert made.calls <= 4


def test_forced_text_is_taken_without_a_draw_and_the_draws_elsewhere_are_the_models():
    grammar = compile_grammar("regex", "name: [ab]")
    session = DecodeSession(grammar, Reader(TOKENS))
    assert FastForward(session.model, "longest", encode=None).extend(session) == 3
    assert session.output == b"name: "
    assert all(step.origin == StepOrigin.FAST_FORWARDED for step in session.steps)
    assert not session.model.asked
    step = session.step()
    assert step.origin == "sampler"
    assert [len(asked) for asked in session.model.asked] == [1 + 3]


def test_what_the_user_took_is_not_replaced():
    grammar = compile_grammar("regex", PEOPLE)
    model = Reader(TOKENS)
    session = DecodeSession(grammar, model)
    fast_forward = FastForward(model, "own", encode=model.encode)
    assert fast_forward.extend(session)
    for token_id in model.encode('{"name":"')[len(session.steps) :]:
        session.take(token_id)
    session.take(ord("J"))
    assert fast_forward.extend(session)
    assert session.steps[-1].origin == StepOrigin.FAST_FORWARDED
    assert session.output.startswith(b'{"name":"John"')
    assert ord("J") in [step.token_id for step in session.steps]
    assert fast_forward.taken_back == 0


def test_the_budget_ends_within_a_run():
    made = generate_fast_forward(compile_grammar("regex", PEOPLE), Reader(TOKENS), "longest", max_tokens=2)
    assert (made.generation.finish, len(made.generation.steps), made.calls) == (Finish.LENGTH, 2, 0)


@pytest.mark.parametrize("strategy", STRATEGIES.names)
def test_what_another_stage_holds_back_is_not_taken(strategy):
    settings = PipelineSettings(suppress=("name",))
    grammar = compile_grammar("regex", "na: (John|Paul)na")
    made = generate_fast_forward(grammar, Reader(TOKENS), strategy, pipeline=settings)
    assert grammar.fullmatch(made.generation.output)
    ended = generate_fast_forward(compile_grammar("regex", "a name"), Reader(TOKENS), strategy, pipeline=settings)
    assert ended.generation.finish is Finish.DEAD_END or b"name" not in ended.generation.output


def test_where_no_tokens_spell_the_run_the_dead_end_is_the_sessions():
    letters = Vocabulary([b"a", b"b", None], [2])
    grammar = compile_grammar("regex", "axb")
    for strategy in STRATEGIES.names:
        session = DecodeSession(grammar, Reader(letters), prompt="a")
        fast_forward = FastForward(session.model, strategy, encode=session.model.encode)
        assert fast_forward.extend(session) == 0
        session.step()
        assert session.finish is Finish.DEAD_END
        with pytest.raises(DeadEndError):
            session.step()


def test_a_run_behind_a_token_that_was_forced_against_the_grammar_is_none():
    session = DecodeSession(compile_grammar("regex", "name"), Reader(TOKENS))
    session.force(ord("x"))
    assert FastForward(session.model, "longest", encode=None).extend(session) == 0


def test_without_a_grammar_nothing_is_forced():
    session = DecodeSession(None, Reader(TOKENS), max_tokens=3)
    assert FastForward(session.model, "longest", encode=None).extend(session) == 0


def test_the_most_probable_needs_a_model():
    with pytest.raises(ValueError, match="needs a model"):
        fast_forward_tokens(Matcher(compile_grammar("regex", "name"), TOKENS), "probable")


def test_one_question_takes_the_same_time_whoever_asks():
    timings: dict[tuple[int, ...], float] = {}
    first, second = (CountedSource(Reader(TOKENS), timings) for _ in range(2))
    for source in (first, second):
        source.logits([1, 2])
    assert first.seconds == second.seconds == timings[1, 2]
    assert (first.calls, second.calls) == (1, 1)
