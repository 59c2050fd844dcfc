"""Strategies as the decode group compares them."""

import pickle

import pytest
from random_model import RandomModel

from app.workers.decode import DecodeHandler
from app.workers.protocol import Progress, Refusal
from app.workers.requests.decode import Back, OpenModel, OpenOutput, SetGrammar, SetPrompt, StepOnce
from app.workers.requests.scoring import AttributePrompt, AttributionAnswer
from app.workers.requests.strategies import (
    CompareStrategies,
    ContinuationRequest,
    SearchTexts,
    StrategiesComparison,
    TreeAnswer,
)
from engine.decoding.strategies.found_texts import Measure
from engine.grammar.options import CompileOptions
from engine.source import CancelledError, CancelToken


@pytest.fixture
def worker():
    model = RandomModel(spread=1.0)
    handler = DecodeHandler(lambda spec, cancel: model)
    told = []

    def ask(request, cancel=None):
        return pickle.loads(pickle.dumps(handler.handle(request, cancel or CancelToken(), told.append)))

    ask.model, ask.told = model, told
    ask(OpenModel("any"))
    return ask


def grammar(worker, text="Ab|Ac|Bd|Be", notation="regex"):
    worker(SetGrammar(1, notation, text, CompileOptions()))


def test_strategies_are_compared_with_the_exact_distribution_and_share_their_calls(worker):
    grammar(worker)
    asked = len(worker.model.asked)
    answer = worker(CompareStrategies(("local", "cars", "awrs"), 20, None, 3))
    assert [one.name for one in answer.figures] == ["local", "cars", "awrs"]
    assert all(one.tv is not None and one.accepted and one.calls == 3 for one in answer.figures)
    assert answer.figures[0].is_of_strategy
    assert 0 < answer.p_grammar < 1
    assert len(worker.model.asked) - asked <= 3
    assert sum(one.exact for one in answer.texts) <= 1 + 1e-9
    for column in range(3):
        assert sum(one.weights[column] for one in answer.texts) == pytest.approx(1)
    partial = [one for one in worker.told if isinstance(one, StrategiesComparison)]
    assert [len(one.figures) for one in partial] == [1, 2, 3]
    assert any(isinstance(one, Progress) for one in worker.told)
    assert answer.done
    assert not any(one.done for one in partial)


def test_a_text_opens_as_a_trace(worker):
    grammar(worker)
    text = worker(CompareStrategies(("local",), 3, None, 0)).texts[0]
    assert worker(OpenOutput(text.ids)).position.output == text.text


def test_a_strategy_that_cannot_run_says_why_and_the_others_do(worker):
    grammar(worker, 'root ::= "A" root "b" | "c"', "gbnf")
    answer = worker(CompareStrategies(("lookahead", "local"), 3, 5, 0))
    assert answer.figures[0].why_not
    assert answer.figures[1].calls <= 5
    assert answer.p_grammar is None
    assert answer.why_not_exact


def test_it_is_cancelled_and_needs_a_grammar(worker):
    assert isinstance(worker(CompareStrategies(("local",), 3, None, 0)), Refusal)
    grammar(worker)
    cancel = CancelToken()
    cancel.cancel()
    with pytest.raises(CancelledError):
        worker(CompareStrategies(("local",), 3, None, 0), cancel)


def test_the_probability_of_a_text_is_that_of_its_tokens_after_the_output(worker):
    grammar(worker)
    worker(StepOnce())
    before = worker(StepOnce()).position.output
    worker(Back())
    found = worker(ContinuationRequest(before[-1:].decode()))
    assert found.text == before[-1:]
    assert found.alone.written.low == found.alone.written.high > 0
    assert found.masked.written.low > found.alone.written.low
    assert found.spellings == 1


def test_without_a_grammar_a_text_has_one_probability(worker):
    assert worker(ContinuationRequest("Ab")).masked is None


def test_the_particles_of_a_run_open_at_every_step(worker):
    grammar(worker)
    answer = worker(CompareStrategies(("local", "smc", "awrs"), 8, None, 0))
    assert [run.name for run in answer.particles] == ["smc", "awrs"]
    texts = {one.ids: one.text for one in answer.texts}
    for run in answer.particles:
        assert all(sum(step.shares) == pytest.approx(1) for step in run.steps)
        for step in range(len(run.steps)):
            for particle in range(8):
                ids = run.ids_of(step, particle)
                assert len(ids) <= step + 1
                assert worker(OpenOutput(ids)).position.output.decode().startswith(run.text_of(step, particle)[:1])
        last = len(run.steps) - 1
        assert {run.ids_of(last, particle) for particle in range(8)} <= set(texts)


def test_all_outputs_above_a_mass_come_one_by_one(worker):
    grammar(worker, "[a-z]b")
    answer = worker(SearchTexts(Measure.GIVEN, 1e-9, 100))
    assert answer.done
    assert len(answer.found.texts) == 26
    assert any(isinstance(one, TreeAnswer) and not one.done for one in worker.told)
    assert any(isinstance(one, Progress) for one in worker.told)
    first = answer.found.texts[0]
    assert worker(OpenOutput(first.ids)).position.output == first.text
    cancel = CancelToken()
    cancel.cancel()
    with pytest.raises(CancelledError):
        worker(SearchTexts(Measure.LOCAL, 0.1, 100), cancel)


def test_the_words_of_the_prompt_are_left_out_one_by_one(worker):
    worker(SetPrompt("Say yes"))
    grammar(worker)
    worker(StepOnce())
    answer = worker(AttributePrompt(3))
    assert answer.done
    assert (answer.step, [word.text for word in answer.words]) == (1, ["Say ", "yes"])
    assert all(word.change is not None for word in answer.words)
    assert any(isinstance(one, AttributionAnswer) and not one.done for one in worker.told)
