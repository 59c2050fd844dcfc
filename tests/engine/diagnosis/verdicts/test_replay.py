"""Verdicts on outputs that people come with."""

import json
from dataclasses import replace
from functools import cache

import pytest
from catalogue_texts import shows, text_pattern

from engine.analysis.token_completion import search_token_completion
from engine.compile import CompileOptions, compile_grammar
from engine.diagnosis.verdicts.completion_budget import NODES
from engine.diagnosis.verdicts.replay import TokenSource, replay_ids, replay_pieces, replay_text, verdict_on_error
from engine.diagnosis.verdicts.sentences import verdict_sentence
from engine.diagnosis.verdicts.verdict import ReplayedTokenState, TokenOrigin, VerdictOutcome
from engine.source import EngineError, GrammarError, Limits
from engine.source.catalogue import catalogue_text
from engine.source.text import quoted
from engine.vocabulary import Vocabulary
from engine.vocabulary.visible import visible

PERSON = """{
  "type": "object",
  "properties": {"name": {"type": "string"}, "age": {"type": "integer"}},
  "required": ["name", "age"],
  "additionalProperties": false
}"""
WHOLE = '{"name": "Ada", "age": 36}'
BYTES = tuple(bytes((byte,)) for byte in range(256))
WORDS = Vocabulary(
    [*BYTES, b'{"', b"name", b'":', b' "', b'", "', b"age", b'"}', None, None], [263], {263: "<end>", 264: "<tool>"}
)


@pytest.fixture(scope="module")
def person():
    return compile_grammar("json_schema", PERSON)


def judge(grammar, text, **more):
    return replay_text(grammar, text.encode(), **more)


def test_a_complete_output(person):
    found = judge(person, WHOLE)
    assert found.outcome is VerdictOutcome.COMPLETE
    assert found.is_complete
    assert found.is_prefix
    assert found.sentence == catalogue_text("verdicts.complete.text", size="26 bytes")
    assert found.notes == ()


def test_a_cut_off_output_is_told_with_its_shortest_ending(person):
    found = judge(person, '{"name": "Ada", ')
    assert found.outcome is VerdictOutcome.CUT_OFF
    assert not found.is_complete
    assert found.ending.in_bytes.text == b'"age":0}'
    needs = catalogue_text("verdicts.fragment.needs.bytes", count=8, needed=8, shown=' (`"age":0}`)', unspelled="")
    assert found.sentence == catalogue_text("verdicts.cut_off.open", where="byte 16", needs=needs)


def test_one_more_token_is_one(person):
    found = judge(person, WHOLE[:-1], token_source=TokenSource(WORDS))
    assert "needs 1 more token (`}`)" in found.sentence


def test_where_no_tokens_were_found_the_ending_is_told_in_bytes(person):
    found = judge(person, WHOLE[:-1], token_source=TokenSource(WORDS))
    searched = replace(found, ending=replace(found.ending, least_tokens=156, most_tokens=None, token_ids=None))
    unspelled = catalogue_text("verdicts.fragment.needs.unspelled", tokens=156)
    sentence = verdict_sentence(searched, person.source)
    assert shows(sentence, "verdicts.fragment.needs.bytes", needed=1, shown=" (`}`)", unspelled=unspelled)


def test_the_sentence_of_the_budget(person):
    found = judge(person, '{"name": "Ada Lovelace', token_source=TokenSource(WORDS), budget=20)
    used, left = found.ending.used, found.ending.left
    assert found.spelled is TokenOrigin.FEWEST
    assert (used, left) == (16, 4)
    needed = found.ending.least_tokens
    assert found.sentence == catalogue_text("verdicts.cut_off.budget", where="token 16", needed=needed, left=4)
    assert found.ending.late_at is not None


def test_from_where_on_the_end_was_out_of_reach(person):
    """Halving, against looking at every token."""

    @cache
    def fewest(prefix):
        configuration = person.automaton.run(person.automaton.start, prefix)
        return search_token_completion(person.automaton, WORDS, configuration, NODES).at_least

    for budget in range(1, 30):
        found = judge(person, '{"name": "Ada Lovelace", ', token_source=TokenSource(WORDS), budget=budget)
        needs = [fewest(found.data[: token.start] if token else found.data) for token in (*found.tokens, None)]
        late = next((taken for taken, needed in enumerate(needs) if needed > budget - taken), None)
        assert found.ending.late_at == late


@pytest.mark.parametrize("work", [300, 10_000])
def test_a_limit_of_work_leaves_bounds_of_the_ending(work):
    source, output = "(?:a|b|ab){40}c", "abab"
    exact = judge(compile_grammar("regex", source), output, token_source=TokenSource(WORDS), budget=99).ending
    limited = compile_grammar("regex", source, CompileOptions(limits=Limits(work=work)))
    found = judge(limited, output, token_source=TokenSource(WORDS), budget=99).ending
    assert exact.least_tokens == exact.most_tokens
    assert found.least_tokens <= exact.least_tokens
    assert found.most_tokens is None or found.most_tokens >= exact.most_tokens


def test_an_output_that_stops_early_is_not_called_cut_off(person):
    found = judge(person, '{"name": "Ada"', token_source=TokenSource(WORDS), budget=100)
    assert shows(found.sentence, "verdicts.cut_off.early")
    assert found.ending.late_at is None


@pytest.mark.parametrize(
    ("finish", "key"),
    [
        ("length", "verdicts.cut_off.by_budget"),
        ("context", "verdicts.cut_off.by_context"),
        ("stop", "verdicts.cut_off.by_itself"),
    ],
)
def test_what_the_server_said_is_taken_into_account(person, finish, key):
    assert shows(judge(person, '{"name": "Ada", ', finish=finish).sentence, key, where="byte 16")


def test_a_full_context_is_no_matter_of_the_budget(person):
    found = judge(person, '{"name": "Ada", ', token_source=TokenSource(WORDS), budget=7, finish="context")
    assert shows(found.sentence, "verdicts.cut_off.context")
    assert not any("budget" in said for said in (found.sentence, *found.notes))


def test_an_illegal_byte(person):
    found = judge(person, '{"name": "Ada",\n "age": "36"}', token_source=TokenSource(WORDS))
    assert found.outcome is VerdictOutcome.ILLEGAL
    place = found.failure.place
    assert (place.byte, place.line, place.column) == (24, 2, 9)
    assert found.data[:24].count(b'"') == 6
    assert found.tokens[place.token].state is ReplayedTokenState.ILLEGAL
    assert {token.state for token in found.tokens[: place.token]} == {ReplayedTokenState.LEGAL}
    assert {token.state for token in found.tokens[place.token + 1 :]} == {ReplayedTokenState.BEYOND}
    assert [person.source.excerpt(span) for span in found.failure.spans] == ['"integer"']
    assert "expected `0-9` or `-`" in found.sentence


@pytest.mark.parametrize("name", ["length", "width", "height"])
def test_the_bound_that_is_named_is_that_of_the_property(name):
    schema = """{
      "properties": {
        "length": {"type": "integer", "maximum": 20},
        "width": {"type": "integer", "maximum": 20},
        "height": {"$ref": "#/$defs/small"}
      },
      "$defs": {"small": {"type": "integer", "maximum": 20}}
    }"""
    found = judge(compile_grammar("json_schema", schema), f'{{"{name}": 21}}')
    assert found.outcome is VerdictOutcome.ILLEGAL
    holder = "#/$defs/small" if name == "height" else name
    begin = schema.index(f'"{holder.rpartition("/")[2]}": {{')
    wanted = schema.index("20}", begin)
    assert wanted in {span.start for span in found.failure.spans}
    assert all(begin < span.start <= wanted for span in found.failure.spans)


def test_an_object_that_is_closed_too_early(person):
    found = judge(person, '{"name": "Ada"}')
    assert found.failure.missing == ("age",)
    assert found.sentence == (
        catalogue_text(
            "verdicts.illegal.missing",
            where="at line 1, column 15 (byte 14)",
            what="`}`",
            names="the property `age` is",
        )
    )


def test_a_key_that_is_not_there(person):
    found = judge(person, '{"nam": 1}')
    assert "expected `e`" + catalogue_text("verdicts.illegal.fragment.property", names="`name`") in found.sentence


def test_what_would_help_is_told(person):
    in_another_order = judge(person, '{"age": 36, "name": "Ada"}')
    assert in_another_order.outcome is VerdictOutcome.ILLEGAL
    complete = catalogue_text("verdicts.option.fragment.complete")
    assert catalogue_text("verdicts.option.any_order", progress=complete) in in_another_order.notes
    blanks = judge(person, '{"name":    "Ada", "age": 36}')
    advice = catalogue_text("verdicts.option.any_space", progress=complete)
    assert advice in blanks.notes
    assert advice not in judge(person, '{"name":    "Ada", "age": 36}', advise=False).notes


@pytest.mark.parametrize(
    ("front", "kind"),
    [
        ("```json\n", "fence"),
        ("Sure! Here it is:\n\n", "other"),
        ("<think>Easy: {}.</think>\n", "thoughts"),
        ("\n", "blanks"),
        ("\ufeff", "byte_order_mark"),
    ],
)
def test_text_before_the_match_is_skipped_and_named(person, front, kind):
    found = judge(person, front + WHOLE)
    assert found.outcome is VerdictOutcome.TEXT_BEFORE
    assert found.skipped == (len(front.encode()), len((front + WHOLE).encode()))
    what = catalogue_text(f"verdicts.around.fragment.{kind}")
    if kind not in ("blanks", "byte_order_mark"):
        shown = quoted(visible(front.encode()))
        what = catalogue_text("verdicts.around.fragment.quoted", kind=what, text=shown)
    assert found.sentence == catalogue_text("verdicts.around.before_complete", what=what, front=len(front.encode()))
    assert not found.is_complete
    assert not found.is_prefix


def test_a_code_fence_is_named_on_both_sides(person):
    found = judge(person, f"```json\n{WHOLE}\n```")
    assert found.skipped == (8, 8 + len(WHOLE))
    fence = catalogue_text("verdicts.around.fragment.fence")
    assert shows(found.sentence, "verdicts.around.before_and_after", end=34, rest=fence)


@pytest.mark.parametrize(
    ("behind", "kind"),
    [
        ("\n", catalogue_text("verdicts.around.fragment.blanks")),
        ("<|im_end|>", catalogue_text("verdicts.around.fragment.special")),
        (" Bye", catalogue_text("verdicts.around.fragment.more")),
        ("\n```", catalogue_text("verdicts.around.fragment.fence")),
    ],
)
def test_text_after_the_match_is_named(person, behind, kind):
    found = judge(person, WHOLE + behind)
    assert found.outcome is VerdictOutcome.TEXT_AFTER
    assert found.legal == len(WHOLE)
    assert kind in found.sentence


def test_a_word_among_words_is_no_text_before_and_an_object_is(person):
    found = judge(compile_grammar("regex", "[a-z]+"), "Hello world 123")
    assert found.outcome is VerdictOutcome.ILLEGAL
    found = judge(person, f"Sure! {WHOLE} I hope that it helps you with all of your work today.")
    assert found.skipped == (6, 6 + len(WHOLE))
    assert shows(
        found.sentence,
        "verdicts.around.before_and_after",
        end=6 + len(WHOLE),
        rest=catalogue_text("verdicts.around.fragment.more"),
    )


@pytest.mark.parametrize("front", ["Sure! Here it is:\n", "Here:\n```json\n"])
def test_an_object_behind_a_greeting_is_judged_though_it_is_not_legal_as_a_whole(person, front):
    found = judge(person, front + WHOLE[:-1] + ', "shoe": 43}')
    assert found.outcome is VerdictOutcome.TEXT_BEFORE
    assert found.skipped is not None
    assert found.skipped[0] == len(front)
    legal, expected = len(front) + len(WHOLE) - 1, "`0-9`, `}`, a line feed or a space"
    key = "verdicts.around.before_illegal"
    assert shows(found.sentence, key, front=len(front), legal=legal, failed="`,`", expected=expected)
    assert judge(person, "See [1] and {a} for more of it.").outcome is VerdictOutcome.ILLEGAL


def test_a_budget_that_cannot_be_held_against_an_output_says_so(person):
    assert catalogue_text("verdicts.budget.unknown") in judge(person, '{"name"', budget=9).notes


def test_a_broken_letter_at_the_start_is_no_text_before():
    found = judge(compile_grammar("regex", "[a-z]+"), "Abc")
    assert found.outcome is VerdictOutcome.ILLEGAL


def test_circles_on_white_space():
    grammar = compile_grammar("json_schema", PERSON, CompileOptions(whitespace="any"))
    found = judge(grammar, '{"name": "Ada",' + "\n" * 60)
    assert found.outcome is VerdictOutcome.LOOPS
    assert shows(found.sentence, "verdicts.loops.text", count=60)
    assert found.notes[0] == catalogue_text("verdicts.loops.schema")


def test_circles_of_a_rule():
    found = judge(compile_grammar("gbnf", 'root ::= "a" " "* "b"'), "a" + " " * 60)
    assert found.outcome is VerdictOutcome.LOOPS
    assert found.notes[0] == catalogue_text("verdicts.loops.grammar")


def test_cuts_within_an_escape_and_within_a_character(person):
    assert judge(person, '{"name": "A\\u00').cut_escape
    found = replay_text(person, '{"name": "é'.encode()[:-1])
    assert found.cut_character
    assert found.is_prefix
    assert any("U+FFFD" in note for note in judge(person, '{"name": "\ufffd').notes)


def test_an_empty_language():
    found = judge(compile_grammar("regex", "a$b"), "a")
    assert found.outcome is VerdictOutcome.EMPTY_LANGUAGE
    assert not found.is_complete


def test_a_grammar_that_does_not_compile():
    with pytest.raises(GrammarError) as caught:
        compile_grammar("regex", "(a|b")
    found = verdict_on_error(caught.value, b"a")
    assert found.outcome is VerdictOutcome.GRAMMAR_ERROR
    assert found.sentence.startswith(catalogue_text("common.grammar.not_compiled") + ": line 1, column 1: ")


def test_ids_and_their_end(person):
    ids = [256, 257, 258, 259, *b"Ada", 260, 261, 258, *b"3}", 263]
    found = replay_ids(person, ids, TokenSource(WORDS))
    assert found.is_complete
    assert found.tokens[-1].state is ReplayedTokenState.END
    assert found.tokens[-1].name == "<end>"
    cut = replay_ids(person, [*ids[:4], 263], TokenSource(WORDS))
    assert cut.outcome is VerdictOutcome.CUT_OFF
    assert cut.tokens[-1].state is ReplayedTokenState.ILLEGAL
    assert shows(cut.sentence, "verdicts.cut_off.by_itself", where="token 4")
    assert catalogue_text("verdicts.stop.end_token", name="`<end>`") in cut.notes


def test_a_special_token_within_is_foreign(person):
    found = replay_ids(person, [256, 264, 257], TokenSource(WORDS))
    assert found.outcome is VerdictOutcome.FOREIGN
    assert found.failure.place.token == 1
    assert found.sentence.startswith("Illegal at token 2: `<tool>` has no text")


def test_an_id_that_is_not_there_is_refused(person):
    with pytest.raises(EngineError, match=text_pattern("errors.diagnosis.id_outside", position=2, id=999)):
        replay_ids(person, [256, 999], TokenSource(WORDS))


def test_how_the_tokenizer_would_have_spelled_it(person):
    def spell(text):
        return WORDS_OF_ITS_OWN if text == '{"name' else []

    WORDS_OF_ITS_OWN = [256, 257]  # noqa: N806
    own = replay_ids(person, [256, 257], TokenSource(WORDS, spell))
    assert own.is_canonical
    assert own.divergence is None
    other = replay_ids(person, [256, *b"name"], TokenSource(WORDS, spell))
    assert other.is_canonical is False
    assert (other.divergence.token, other.divergence.byte, other.divergence.own) == (1, 2, b"name")


def test_a_grammar_that_names_tokens_is_followed_token_by_token():
    grammar = compile_grammar("gbnf", "root ::= <tool> [a-z]+")
    with pytest.raises(EngineError, match=text_pattern("errors.diagnosis.needs_ids")):
        replay_text(grammar, b"abc")
    found = replay_ids(grammar, [264, *b"ab", 263], TokenSource(WORDS))
    assert found.is_complete
    assert not replay_ids(grammar, [264], TokenSource(WORDS), budget=1).is_complete
    broken = replay_ids(grammar, [264, *b"aB"], TokenSource(WORDS))
    assert broken.outcome is VerdictOutcome.TEXT_AFTER
    assert broken.failure.place.token == 2


def test_a_saved_trace_needs_no_vocabulary(person):
    found = replay_pieces(person, [b'{"', b"name", b'":', b"3"])
    assert found.failure.place.token == 3
    assert [token.token_id for token in found.tokens] == [None] * 4


def test_every_byte_of_a_forced_token_is_forced(person):
    found = judge(person, '{"name": "', token_source=TokenSource(WORDS))
    assert [(token.data, token.forced) for token in found.tokens][:2] == [(b'{"', False), (b"name", True)]
    digits = replay_pieces(compile_grammar("regex", "abc[0-9]def"), [b"ab", b"c1", b"def"])
    assert [token.forced for token in digits.tokens] == [True, False, True]


def test_regexes_and_gbnf_name_their_place():
    regex = judge(compile_grammar("regex", "[0-9]{4}-[0-9]{2}"), "2024-1x")
    assert (
        "expected `0-9`" + catalogue_text("verdicts.illegal.fragment.grammar", place="line 1, column 10: `[0-9]`")
        in regex.sentence
    )
    gbnf = judge(compile_grammar("gbnf", 'root ::= num\nnum ::= [0-9]+ "."'), "1x")
    assert shows(gbnf.sentence, "verdicts.illegal.fragment.rule", name="`num`")


# ---------------------------------------------------------------------- escapes that Turnstile does not write

ESCAPED = json.dumps({"properties": {"age": {"type": "integer"}, "desc": {"type": "string"}}, "required": ["desc"]})


@pytest.mark.parametrize(
    ("output", "outcome", "escape", "byte"),
    [
        (r'{"age": 28, "d\u0065sc": "x"}', VerdictOutcome.COMPLETE, r"`\u0065`", 14),
        (r'{"desc": "\u0041\u00', VerdictOutcome.CUT_OFF, r"`\u0041`", 10),
        (r'{"desc": "\n\\\u001F"}', VerdictOutcome.COMPLETE, r"`\u001F`", 14),
        (r'Sure: {"desc": "a\u0041"}', VerdictOutcome.TEXT_BEFORE, r"`\u0041`", 17),
        (r'{"d\u0065sc": 1}', VerdictOutcome.ILLEGAL, r"`\u0065`", 3),
    ],
)
def test_an_output_from_elsewhere_may_have_any_escapes_and_that_is_said(output, outcome, escape, byte):
    grammar = compile_grammar("json_schema", ESCAPED)
    found = judge(grammar, output)
    assert found.outcome is outcome
    assert shows(found.notes[0], "verdicts.unusual.string", text=escape, line=1, column=byte + 1)
    every = judge(compile_grammar("json_schema", ESCAPED, CompileOptions(escapes="any")), output)
    assert found.sentence == every.sentence
    assert found.notes[1:] == every.notes
    assert found.ending == every.ending


@pytest.mark.parametrize("output", [r'{"desc": "\u00e9\/\n"}', r'{"desc": "\u001f', r'{"desc": 1}', r'{"desc": "\x"}'])
def test_what_is_judged_alike_with_any_escapes_is_not_remarked(output):
    assert not any(
        shows(note, "verdicts.unusual.string") for note in judge(compile_grammar("json_schema", ESCAPED), output).notes
    )


def test_a_test_string_is_judged_by_the_grammar_as_it_was_compiled():
    found = replay_text(compile_grammar("json_schema", ESCAPED), rb'{"d\u0065sc": "x"}', advise=False)
    assert found.outcome is VerdictOutcome.ILLEGAL


# ---------------------------------------------------------------------- numbers that Turnstile does not write

NUMBERS = json.dumps(
    {"properties": {"a": {"type": "integer"}, "b": {"const": 10}, "c": {"enum": [0.5, 0]}, "d": {"maxLength": 9}}}
)


@pytest.mark.parametrize(
    ("output", "outcome", "written", "byte"),
    [
        ('{"a":1.0}', VerdictOutcome.COMPLETE, "`1.0`", 5),
        ('{"a":1e2,"b":10.0}', VerdictOutcome.COMPLETE, "`1e2`", 5),
        ('{"a":1,"b":100e-1}', VerdictOutcome.COMPLETE, "`100e-1`", 11),
        ('{"c":0.50}', VerdictOutcome.COMPLETE, "`0.50`", 5),
        ('{"c":-0}', VerdictOutcome.COMPLETE, "`-0`", 5),
        ('{"a":[],"b":1}', VerdictOutcome.ILLEGAL, None, 5),
        ('{"a":1.', VerdictOutcome.CUT_OFF, "`1.`", 5),
        ('Sure: {"b":1e1}', VerdictOutcome.TEXT_BEFORE, "`1e1`", 11),
        ('{"a":1.0,"b":11}', VerdictOutcome.ILLEGAL, "`1.0`", 5),
    ],
)
def test_an_output_from_elsewhere_may_have_any_numbers_and_that_is_said(output, outcome, written, byte):
    found = judge(compile_grammar("json_schema", NUMBERS), output)
    assert found.outcome is outcome
    said = [
        note
        for note in found.notes
        if shows(note, "verdicts.unusual.number") or shows(note, "verdicts.unusual.number_as")
    ]
    assert len(said) == (written is not None)
    if written is not None:
        assert f"{written} at line 1, column {byte + 1}" in said[0]


@pytest.mark.parametrize(
    "output", ['{"a":1.5}', '{"b":10.1}', '{"c":0.51,"a":1}', '{"a":1,"b":10,"c":0.5}', '{"d":1.0,"e":2.50}']
)
def test_numbers_that_are_judged_alike_in_every_form_are_not_remarked(output):
    strict = judge(compile_grammar("json_schema", NUMBERS), output)
    assert not any(shows(note, "verdicts.unusual.string") for note in strict.notes)
    assert (
        strict.sentence == replay_text(compile_grammar("json_schema", NUMBERS), output.encode(), advise=False).sentence
    )


def test_a_number_and_an_escape_are_both_remarked():
    found = judge(compile_grammar("json_schema", NUMBERS), r'{"b":10.00,"d":"\u0041"}')
    assert found.is_complete
    assert ["`10.00`" in found.notes[0], r"`\u0041`" in found.notes[1]] == [True, True]
    assert "here as `10`" in found.notes[0]


def test_only_a_valid_output_is_called_valid():
    """The relaxed grammar accepts what the standard accepts, and nothing else."""
    found = judge(compile_grammar("json_schema", '{"type":"integer","not":{"const":2}}'), "2.0")
    assert not found.is_complete
