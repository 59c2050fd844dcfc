"""The cases are what their labels say, by the engine's automaton and the form of the text; no verdict is asked."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from functools import cache

import pytest

from engine.automata.byte_automaton import DEAD
from engine.compile import CompiledGrammar, CompileOptions, compile_grammar
from tests.diagnosis_cases.mutations import relaxations, validator, without_keyword
from tests.diagnosis_cases.ratio import Answer, is_right, score, wrong_headlines
from tests.diagnosis_cases.wrong_outputs import COUNTS, HELD_OUT_COUNTS, WrongOutput, cases, held_out_cases

# The cases were written without knowledge of the verdicts. A change needs a reason other than that a verdict fails.
DIGEST = "4afd3e63e9e9d92c2b741e83af1d8a5a44bdf96762f287f2aeac9edd44a0c648"
HELD_OUT_DIGEST = "158ae6fc052603ecd9ad14e4a8ae7b4c3a242c05618aa5468778ab71b1fe2c76"

IN_THE_LANGUAGE_SO_FAR = frozenset(("cut-off", "repetition-loop"))
ANY_ORDER = CompileOptions(property_order="any")
ANY_BLANKS = CompileOptions(whitespace="any")


@cache
def compiled(notation: str, source: str, options: CompileOptions | None = None) -> CompiledGrammar:
    return compile_grammar(notation, source, options)


def begins_a_match(grammar: CompiledGrammar, data: bytes) -> bool:
    return grammar.automaton.run(grammar.automaton.start, data) != DEAD


def has_legal_text(grammar: CompiledGrammar, data: bytes) -> bool:
    """Return whether a text of the language begins at some byte, or goes on to the end of the data."""
    automaton = grammar.automaton
    for start in range(len(data)):
        configuration = automaton.start
        for byte in range(start, len(data)):
            configuration = automaton.run(configuration, data[byte : byte + 1])
            if configuration == DEAD:
                break
            if automaton.accepts(configuration):
                return True
        else:
            return True
    return False


def digest(made: tuple[WrongOutput, ...]) -> str:
    return hashlib.sha256("\n".join(map(repr, made)).encode()).hexdigest()


def of_kind(*prefixes: str) -> list[WrongOutput]:
    return [case for case in (*cases(), *held_out_cases()) if case.kind.startswith(prefixes)]


@pytest.fixture(scope="module", params=[cases, held_out_cases], ids=["cases", "held-out"])
def made(request) -> tuple[WrongOutput, ...]:
    return request.param()


@pytest.mark.parametrize(
    ("make", "counts", "total", "expected"),
    [(cases, COUNTS, 200, DIGEST), (held_out_cases, HELD_OUT_COUNTS, 100, HELD_OUT_DIGEST)],
)
def test_there_are_as_many_of_each_kind_as_stated_and_they_never_change(make, counts, total, expected):
    made = make()
    assert Counter(case.kind for case in made) == counts
    assert len(made) == len({case.name for case in made}) == len({case.right for case in made}) == total
    assert len({case.wrong for case in made}) == total
    assert digest(made) == expected


def test_another_seed_makes_other_outputs():
    shared = {(case.grammar, case.right) for case in cases(1)} & {(case.grammar, case.right) for case in cases(2)}
    assert len(shared) <= sum(wanted for kind, wanted in COUNTS.items() if kind.endswith("of a grammar"))


def test_no_held_out_grammar_is_one_of_the_first():
    assert not {case.grammar for case in cases()} & {case.grammar for case in held_out_cases()}


def test_every_right_output_is_in_the_language_and_no_wrong_one_is(made):
    for case in made:
        grammar = compiled(case.notation, case.grammar)
        assert grammar.fullmatch(case.right), case.name
        assert not grammar.fullmatch(case.wrong), case.name


def test_every_right_output_is_valid_by_jsonschema(made):
    for case in made:
        if case.notation == "json_schema":
            assert validator(json.loads(case.grammar)).is_valid(json.loads(case.right)), case.name


def test_only_what_was_cut_or_repeated_begins_a_match(made):
    for case in made:
        begins = begins_a_match(compiled(case.notation, case.grammar), case.wrong.encode())
        assert begins == (case.cause in IN_THE_LANGUAGE_SO_FAR), case.name


def test_a_cut_output_is_a_proper_prefix_of_the_right_one_and_ended_by_the_budget():
    for case in of_kind("cut-off"):
        assert case.right.startswith(case.wrong), case.name
        assert 0 < len(case.wrong) < len(case.right), case.name
        assert case.finish == "length", case.name


def test_a_loop_of_blanks_is_legal_where_any_white_space_is():
    for case in of_kind("whitespace-loop"):
        grammar = compiled(case.notation, case.grammar, ANY_BLANKS)
        assert begins_a_match(grammar, case.wrong.encode()), case.name
        assert grammar.fullmatch(case.wrong) == (case.finish == "stop"), case.name


def test_a_loop_repeats_the_end_of_the_output_thirty_times():
    for case in of_kind("repetition-loop"):
        ending = case.wrong[-len(case.wrong) // 3 :]
        period = next(size for size in range(1, len(ending)) if ending.startswith(ending[size:]))
        assert len(case.wrong) > 20 * period, case.name
        assert case.finish == "length", case.name


def test_prose_leaves_the_language_at_once_and_contains_no_text_of_it():
    for case in of_kind("constraint-off"):
        grammar = compiled(case.notation, case.grammar)
        assert not begins_a_match(grammar, case.wrong.encode()[:2]), case.name
        assert not has_legal_text(grammar, case.wrong.encode()), case.name


def test_the_removal_of_the_named_keyword_and_of_no_other_makes_the_output_legal():
    for case in of_kind("keyword", "missing-required", "extra-property"):
        schema = json.loads(case.grammar)
        relaxed = json.dumps(without_keyword(schema, case.pointer))
        assert compiled("json_schema", relaxed).fullmatch(case.wrong), case.name
        if case.kind != "keyword format":  # an annotation to jsonschema
            assert relaxations(schema, json.loads(case.wrong)) == [case.pointer], case.name


def test_keys_in_another_order_are_legal_if_any_order_is():
    for case in of_kind("key-order"):
        assert compiled(case.notation, case.grammar, ANY_ORDER).fullmatch(case.wrong), case.name
        assert json.loads(case.wrong) == json.loads(case.right), case.name


def test_what_is_wrong_in_form_is_not_json():
    for case in of_kind("trailing-comma", "single-quotes", "raw-newline", "code-fence", "second-value"):
        with pytest.raises(ValueError, match="char"):
            json.loads(case.wrong)


def test_a_form_is_right_once_its_defect_is_undone():
    for case in of_kind("code-fence", "second-value", "trailing-comma"):
        grammar = compiled(case.notation, case.grammar)
        if case.kind == "code-fence":
            assert grammar.fullmatch("\n".join(case.wrong.strip().split("\n")[1:-1])), case.name
        elif case.kind == "second-value":
            assert case.wrong.startswith(case.right), case.name
            assert grammar.fullmatch(case.wrong.removeprefix(case.right).lstrip(", \n")), case.name
        else:
            assert len(case.wrong) == len(case.right) + 1, case.name
    for case in of_kind("nan"):
        assert case.wrong.count("NaN") == 1, case.name
        json.loads(case.wrong)  # by Python's extension of JSON


def test_more_than_one_cause_is_acceptable_only_for_a_reason():
    for case in (*cases(), *held_out_cases()):
        assert (len(case.causes) > 1) == bool(case.reason), case.name
    assert sum(len(case.causes) > 1 for case in cases()) <= 20


# ------------------------------------------------------------------------------------------------------- the ratio


def labels(made: tuple[WrongOutput, ...]):
    """Return a judge that knows the labels."""
    known = {(case.grammar, case.wrong): Answer(case.cause, case.detail, (case.pointer or "",)) for case in made}
    return lambda notation, grammar, output, finish, budget: known.get((grammar, output), Answer("complete"))


def test_a_judge_that_knows_the_labels_is_always_right(made):
    assert score(made, labels(made)).ratio == 1
    assert wrong_headlines(made, labels(made)) == []


def test_a_judge_that_says_the_same_of_all_is_right_of_that_alone():
    result = score(cases(), lambda *given: Answer("cut-off"))
    assert result.ratio == pytest.approx(34 / 200)
    assert "34 of 200 right" in str(result)
    assert len(wrong_headlines(cases(), lambda *given: Answer("cut-off"))) == 200


@pytest.mark.parametrize(
    ("answer", "right"),
    [
        (Answer("keyword-not-enforced", "length", ("/properties/title/maxLength",)), True),
        (Answer("keyword-not-enforced", "length", ("/title", "/properties/title/maxLength")), True),
        (Answer("keyword-not-enforced", "length", ("/properties/title/maxLength/0",)), True),
        (Answer("keyword-not-enforced", "length", ("/properties/title",)), False),
        (Answer("keyword-not-enforced", "length", ("/properties/title/maxLengths",)), False),
        (Answer("keyword-not-enforced", "range", ("/properties/title/maxLength",)), False),
        (Answer("schema-violation", "length", ("/properties/title/maxLength",)), False),
    ],
)
def test_an_answer_needs_cause_detail_and_pointer(answer, right):
    causes = ("keyword-not-enforced",)
    pointer = "/properties/title/maxLength"
    case = WrongOutput("", "", "json_schema", "", "", "", None, None, causes, "length", pointer, "")
    assert is_right(case, answer) == right
