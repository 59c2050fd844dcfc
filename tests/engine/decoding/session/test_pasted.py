from error_keys import raises_key

from engine.compile import compile_grammar
from engine.decoding.pipeline_settings import PipelineSettings
from engine.decoding.session import DecodeSession
from engine.decoding.session.replay import imported_trace
from engine.decoding.values import StepOrigin
from engine.models.uniform import UniformSource
from engine.source import EngineError
from engine.vocabulary import Vocabulary

LETTERS = Vocabulary([b"a", b"b", b"ab", None], [3], {3: "<end>"})
GRAMMAR = compile_grammar("regex", "a+b")


def test_a_legal_output_is_stood_behind():
    trace = imported_trace([0, 0, 1, 3], GRAMMAR, LETTERS)
    assert (trace.path, trace.current, trace.illegal) == ((0, 1, 2, 3), 3, frozenset())
    assert [node.step.allowed for node in trace.nodes] == [2, 3, 3, 1]
    assert [node.step.forced for node in trace.nodes] == [False, False, False, True]
    assert {node.step.origin for node in trace.nodes} == {StepOrigin.REPLAYED}


def test_what_is_illegal_is_marked_and_what_follows_stays():
    trace = imported_trace([0, 1, 1, 0], GRAMMAR, LETTERS)
    assert (trace.current, trace.illegal, len(trace.nodes)) == (1, frozenset({2}), 4)
    assert imported_trace([1], GRAMMAR, LETTERS).current is None


def test_a_session_steps_through_it_without_asking_the_model():
    asked = []
    model = UniformSource("letters", LETTERS)
    whole, model.logits = model.logits, lambda ids: asked.append(ids) or whole(ids)
    session = DecodeSession(GRAMMAR, model)
    session.restore(imported_trace([0, 0, 1, 1], GRAMMAR, LETTERS))
    assert session.output == b"aab"
    assert session.back()
    assert session.output == b"aa"
    assert asked == []
    assert session.position().index == 2
    assert len(asked) == 1


def test_an_id_that_is_not_there_is_refused():
    with raises_key(EngineError, "errors.decoding.replayed_id", position=2, id=9):
        imported_trace([0, 9], GRAMMAR, LETTERS)


def test_what_was_allowed_follows_another_grammar():
    session = DecodeSession(compile_grammar("regex", "[a-c]+"), UniformSource("letters", LETTERS))
    ids = [LETTERS.tokens.index(letter) for letter in (b"a", b"b")]
    session.restore(imported_trace(ids, session.language, LETTERS))
    before = [step.allowed for step in session.steps]
    session.replace_grammar(compile_grammar("regex", "ab"))
    assert [(step.allowed, step.forced) for step in session.steps] == [(2, False), (1, True)]
    assert before == [3, 4]
    session.replace_grammar(compile_grammar("regex", "b"))
    assert session.trace.nodes[0].step.allowed == 1  # of the step that is not legal any more, too


def test_what_was_allowed_is_what_the_processors_leave():
    pipeline = PipelineSettings(suppress=("b",))
    session = DecodeSession(compile_grammar("regex", "[a-c]+"), UniformSource("letters", LETTERS), pipeline=pipeline)
    session.restore(imported_trace([LETTERS.tokens.index(b"a")], session.language, LETTERS))
    held = session.steps[0].allowed
    session.set_pipeline(PipelineSettings())
    assert session.steps[0].allowed > held
