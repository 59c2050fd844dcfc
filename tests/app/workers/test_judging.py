"""The judge group's handler, without any process."""

import itertools
from contextlib import contextmanager

import pytest
from catalogue_texts import shows

from app.catalogue import ui_text
from app.workers.judge import StringTestHandler, path_of
from app.workers.requests.compile import CompileRequest
from app.workers.requests.judge import CoverRequest, FindRefusal, JudgeRequest, SuggestRequest
from engine.compile import CompileOptions, compile_grammar
from engine.diagnosis.test_strings.values import CountedText, SuggestionKind
from engine.diagnosis.verdicts.verdict import VerdictOutcome
from engine.matching.explanation import RefusalKind
from engine.source import CancelledError, CancelToken, limited_work, work_turns

GRAMMARS = {
    "gbnf": 'root ::= a | b\na ::= "x" [0-9]+\nb ::= "y"\n',
    "regex": "x[0-9]+|y",
    "json_schema": '{"type": "object", "properties": {"a": {"enum": ["x", "y"]}}, "required": ["a"]}',
}
TEXTS = {"gbnf": ("y", "x"), "regex": ("y", "x"), "json_schema": ('{ "a": "x" }', '{"a"')}


@pytest.fixture
def handler():
    return StringTestHandler()


def compiled(notation, text=None, revision=3):
    return CompileRequest(revision, notation, GRAMMARS[notation] if text is None else text, CompileOptions())


def judge(handler, request, texts, counted=(0,)):
    return handler.handle(JudgeRequest(request, texts, counted), CancelToken(), lambda _value: None)


def cover(handler, request, *outputs):
    return handler.handle(CoverRequest(request, tuple(map(CountedText, outputs))), CancelToken(), lambda _value: None)


def suggest(handler, request, kind, known=()):
    return handler.handle(SuggestRequest(request, kind, known), CancelToken(), lambda _value: None)


@pytest.mark.parametrize("notation", GRAMMARS)
def test_texts_are_judged_and_counted(handler, notation):
    answer = judge(handler, compiled(notation), TEXTS[notation])
    assert answer.error == ""
    assert [verdict.outcome for verdict in answer.verdicts] == [VerdictOutcome.COMPLETE, VerdictOutcome.CUT_OFF]
    assert (answer.revision, answer.coverage.followed, answer.coverage.reason) == (3, 1, "")
    assert 0 < answer.coverage.covered_edges < answer.coverage.total_edges == len(answer.coverage.edges)


def test_the_keywords_that_refuse_a_token_are_found_and_a_broken_schema_has_none(handler):
    def found(request):
        return handler.handle(FindRefusal(request, b"{", b"}"), CancelToken(), lambda _value: None)

    refusal = found(compiled("json_schema"))
    assert [(one.pointer, one.names) for one in refusal.keywords] == [("/required", ("a",))]
    assert found(compiled("json_schema", "{")).kind is RefusalKind.UNKNOWN


@pytest.mark.parametrize("notation", GRAMMARS)
def test_outputs_and_test_strings_are_counted_apart(handler, notation):
    texts, outputs = TEXTS[notation][:1], (b"x1", b'{"a":"y"}', b"x")
    alone = judge(handler, compiled(notation), texts).coverage
    generated = cover(StringTestHandler(), compiled(notation), *outputs).coverage
    assert cover(handler, compiled(notation), *outputs).coverage == generated
    assert judge(handler, compiled(notation), texts).coverage == alone
    assert cover(handler, compiled(notation), *outputs).coverage == generated
    assert 0 < alone.covered_edges < alone.total_edges == generated.total_edges


def test_the_order_of_outputs_and_what_was_asked_before_change_nothing(handler):
    outputs = (b"x123", b"y", b"x", b"x1")
    first = cover(handler, compiled("gbnf"), *outputs).coverage
    cover(handler, compiled("gbnf"), b"y")
    assert cover(handler, compiled("gbnf"), *reversed(outputs)).coverage == first
    assert first.covered_rules == 3


def test_many_outputs_are_followed_bit_by_bit(handler, monkeypatch):
    monkeypatch.setattr("app.workers.judge.FOLLOWED_AT_ONCE", 3)
    request, outputs = compiled("gbnf"), tuple(b"x%d" % n for n in range(5))
    answers = [cover(handler, request, *outputs) for _ in range(3)]
    assert [answer.pending for answer in answers] == [3, 1, 0]
    assert answers[-1].coverage.followed == 5
    assert answers[-1] == cover(handler, request, *outputs)


def test_an_output_that_is_too_long_counts_as_far_as_it_is_followed(handler, monkeypatch):
    monkeypatch.setattr("app.workers.judge.MOST_FOLLOWED", 2)
    assert cover(handler, compiled("gbnf"), b"x1234").coverage.covered_rules == 2
    assert cover(handler, compiled("gbnf"), b"xx").coverage.covered_rules == 0


def test_outputs_under_a_broken_grammar_say_why_nothing_is_told(handler):
    assert cover(handler, compiled("regex", "(a"), b"a").coverage.reason


def test_what_is_known_is_not_judged_again(handler, monkeypatch):
    first = judge(handler, compiled("gbnf"), ("y",))
    monkeypatch.setattr("engine.diagnosis.verdicts.replay.replay_text", None)
    monkeypatch.setattr("engine.diagnosis.test_strings.coverage.uses_of", None)
    assert judge(handler, compiled("gbnf"), ("y", "y")).verdicts == first.verdicts * 2


def test_a_broken_grammar_has_no_verdicts(handler):
    answer = judge(handler, compiled("regex", "(a"), ("a",))
    assert (answer.verdicts, answer.error) == ((), ui_text("common.grammar.not_compiled"))
    assert suggest(handler, compiled("regex", "(a"), SuggestionKind.SHORTEST).error == ui_text(
        "workers.judge.fix_first"
    )


def test_a_grammar_that_names_tokens_says_so(handler):
    answer = judge(handler, compiled("gbnf", "root ::= <think> [a-z]+"), ("a",))
    assert shows(answer.error, "errors.diagnosis.needs_ids")
    assert suggest(handler, compiled("gbnf", "root ::= <think>"), SuggestionKind.RANDOM).suggestions == ()


def test_lone_surrogates_match_nothing(handler):
    answer = judge(handler, compiled("regex", "."), ("\ud800",))
    assert not answer.verdicts[0].is_complete


@pytest.mark.parametrize("notation", GRAMMARS)
@pytest.mark.parametrize("kind", list(SuggestionKind))
def test_suggestions_of_every_kind(handler, notation, kind):
    answer = suggest(handler, compiled(notation), kind, TEXTS[notation][:1])
    assert answer.suggestions or answer.error
    known = judge(handler, compiled(notation), tuple(one.text for one in answer.suggestions), counted=())
    assert [verdict.is_complete for verdict in known.verdicts] == [one.accepts for one in answer.suggestions]
    assert not {one.text for one in answer.suggestions} & set(TEXTS[notation][:1])


def test_a_cancel_ends_the_work(handler):
    cancel = CancelToken()
    cancel.cancel()
    with pytest.raises(CancelledError):
        handler.handle(JudgeRequest(compiled("gbnf"), ("y",)), cancel, lambda _value: None)


def test_coverage_that_cannot_be_told_says_why(handler):
    answer = judge(handler, compiled("regex", "(?=.*x.{12}).*[0-9]{30,900}"), ("1",), counted=())
    assert answer.coverage.reason in (
        ui_text("workers.judge.fragment.states", limit=4_000),
        ui_text("workers.judge.fragment.work"),
    )


def test_coverage_does_not_depend_on_the_clock_or_on_texts_judged_before(handler, monkeypatch):
    clock = itertools.count(0, 10.0)
    for name in ("perf_counter", "monotonic", "thread_time", "process_time"):
        monkeypatch.setattr(f"time.{name}", lambda: next(clock))
    counted = []

    @contextmanager
    def counting(limit):
        with limited_work("errors.limit.drawing_work", limit):
            yield
            counted.append(work_turns())

    monkeypatch.setattr("app.workers.judge.bounded_work", counting)
    asked = compiled("regex", "[a-c]{1,90}x")
    assert judge(handler, asked, ("abx",)).coverage.total_edges
    later = StringTestHandler()
    found = suggest(later, asked, SuggestionKind.RANDOM).suggestions  # judges texts and computes states as it does so
    assert found
    assert judge(later, asked, ("aax",)).coverage.total_edges
    assert counted[0] == counted[1]


def test_of_very_many_edges_some_unused_ones_are_told(handler, monkeypatch):
    monkeypatch.setattr("app.workers.judge.MOST_EDGES", 3)
    monkeypatch.setattr("app.workers.judge.MOST_LISTED", 2)
    covered = judge(handler, compiled("regex", "abcdef|xyz"), ("xyz",)).coverage
    assert (covered.total_edges, covered.covered_edges) == (9, 3)
    assert [edge.covered for edge in covered.edges] == [False, False]


def test_what_texts_use_of_a_whole_automaton_is_told_beside_its_rules(handler):
    request = compiled("gbnf")
    answer = judge(handler, request, ("x12", "y", "x"), (0, 2))
    dfa = compile_grammar("gbnf", GRAMMARS["gbnf"]).materialise(100)
    assert answer.coverage.whole == dict.fromkeys(path_of(dfa, b"x12"), 1)  # "x" is no whole text
    assert set(cover(handler, request, b"y", b"x").coverage.whole) == {*path_of(dfa, b"y"), *path_of(dfa, b"x")}
    assert judge(handler, compiled("regex"), ("y",)).coverage.whole is None  # its edges tell it
    recursive = compiled("gbnf", 'root ::= "(" root ")" | "a"')
    assert judge(handler, recursive, ("a",)).coverage.whole is None


def test_an_automaton_is_followed_as_far_as_a_text_goes():
    dfa = compile_grammar("regex", "ab").materialise(10)
    assert len(path_of(dfa, b"ab")) == 2
    assert path_of(dfa, b"ax") == path_of(dfa, b"a") == ((dfa.start, dfa.step(dfa.start, ord("a"))),)
    assert path_of(dfa, b"") == ()
