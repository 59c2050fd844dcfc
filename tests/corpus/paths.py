"""The paths that run a case: each returns the first problem, or why the case does not apply to it.

A path is a function of a case that returns an `Outcome`: passed, wrong (with a reason), or refused (the path cannot
express the grammar and says so). A wrong answer fails the tests at once; the number of passed cases is held by the
ratchet, so that a refusal does not spread unnoticed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Final

import grammar_language
import jsonschema
import language
import numpy as np
from brute_force import brute_force

from engine.automata.byte_automaton import DEAD
from engine.compile import CompiledGrammar, compile_grammar
from engine.diagnosis.verdicts.replay import replay_text
from engine.diagnosis.verdicts.verdict import VerdictOutcome
from engine.export.runtimes.guide import Guide
from engine.export.schema.settings import NumberSpelling
from engine.export.tables.rule_tables import tables_document, tables_of
from engine.export.target import ExportJob
from engine.export.text.conversion import NotConvertibleError, to_gbnf, to_regex
from engine.masking.reference_mask import compute_reference_mask
from engine.matching import Matcher, warm
from engine.notations.regex.parser import parse
from engine.peers.adapter import allows
from engine.source import Diagnostic, EngineError, GrammarError, Severity, SourceText
from engine.vocabulary import Vocabulary
from tests.corpus.case import (
    EOS_TEXT,
    Case,
    Finding,
    byte_vocabulary,
    cases,
    compiled,
    grammar_of,
    small_vocabulary,
)

_EOS: Final = 256
_LONGEST_REFERENCE: Final = 40  # characters; the reference implementations take time that grows with their cube
_MOST_FORCED: Final = 200
_MOST_POSITIONS: Final = 12  # of a text, where its masks are compared


@dataclass(frozen=True)
class Outcome:
    """The result of a case on a path: `problem` is empty if it passed; `refused` if the path cannot express it."""

    problem: str = ""
    refused: str = ""


PASSED: Final = Outcome()
Path = Callable[[Case], Outcome | None]


def _first(problems: Iterator[str]) -> Outcome:
    return Outcome(next(problems, ""))


# ---------------------------------------------------------------------- compile


def findings(case: Case) -> Outcome:
    """Compile the grammar and compare its diagnostics with the expected ones."""
    result = compiled(case.name)
    if isinstance(result, GrammarError) == case.compiles:
        return Outcome(f"the compile {'fails' if case.compiles else 'succeeds'}: {_codes(result.diagnostics)}")
    if case.findings is None:
        unexpected = [found.code for found in result.diagnostics if found.severity is not Severity.HINT]
        return Outcome(f"unexpected findings: {unexpected}") if unexpected and result_has_texts(case) else PASSED
    left = list(case.findings)
    for found in result.diagnostics:
        match = next((one for one in left if _is(found, one, case.source)), None)
        if match is None:
            return Outcome(f"unexpected finding: {_codes([found])}; all: {_codes(result.diagnostics)}")
        left.remove(match)
    return Outcome(f"missing findings: {left}; all: {_codes(result.diagnostics)}" if left else "")


def result_has_texts(case: Case) -> bool:
    """Return whether the case has an accepted text; an empty language is reported as a warning."""
    return bool(case.accepted)


def _is(found: Diagnostic, expected: Finding, source: str) -> bool:
    return (
        found.code == expected.code
        and source[found.span.start : found.span.end] == expected.text
        and expected.start in (None, found.span.start)
    )


def _codes(diagnostics: Any) -> list[tuple[str, int, int]]:
    return [(found.code, found.span.start, found.span.end) for found in diagnostics]


# ---------------------------------------------------------------------- the engine


def automaton(case: Case) -> Outcome | None:
    """Run the automaton byte by byte."""
    return _of_grammar(case, lambda: _automaton_problems(case, grammar_of(case)))


def _automaton_problems(case: Case, grammar: CompiledGrammar) -> Iterator[str]:
    automaton = grammar.automaton
    for text, accepted in case.texts:
        if grammar.fullmatch(text) != accepted:
            yield f"{text!r} is {'refused' if accepted else 'accepted'}"
    for text in case.accepted:
        for end in range(len(text) + 1):
            if automaton.run(automaton.start, text[:end]) == DEAD:
                yield f"the prefix {text[:end]!r} of an accepted text is dead"
    for text in case.dead:
        if automaton.run(automaton.start, text) != DEAD:
            yield f"{text!r} is not dead"


def matcher(case: Case) -> Outcome | None:
    """Follow each text through the masks of the kernels, byte by byte, with undo."""
    return _of_grammar(case, lambda: _matcher_problems(case, grammar_of(case)))


def _matcher_problems(case: Case, grammar: CompiledGrammar) -> Iterator[str]:
    warm(wait=True)
    base = Matcher(grammar, byte_vocabulary())
    mask = np.empty_like(base.bitmask())
    for text, accepted in case.texts:
        follower, taken = base.fork(), 0
        for byte in text:
            follower.fill_bitmask(mask)
            if follower.accept(byte) != allows(mask, byte):
                yield f"after {text[:taken]!r}, the mask and the step differ about the byte {byte:#x}"
            if not allows(mask, byte):
                break
            taken += 1
        follower.fill_bitmask(mask)
        is_accepted = taken == len(text) and allows(mask, _EOS)
        if is_accepted != accepted:
            yield f"{text!r} is {'refused' if accepted else 'accepted'} by the masks"
        follower.rollback(taken)
        if follower.configuration != base.configuration:
            yield f"undoing {text[:taken]!r} does not lead back to the start"


def masks(case: Case) -> Outcome | None:
    """Compare the masks of the kernels over the small vocabulary with the reference mask and the expected ones."""
    if case.has_only_masks:
        return _first(_mask_problems(case, grammar_of(case)))
    return _of_grammar(case, lambda: _mask_problems(case, grammar_of(case)))


def _mask_problems(case: Case, grammar: CompiledGrammar) -> Iterator[str]:
    warm(wait=True)
    vocabulary = small_vocabulary()
    for expected in case.masks:
        follower = Matcher(grammar, vocabulary)
        if not follower.accept_bytes(expected.after):
            yield f"{expected.after!r} is not the beginning of a match"
            continue
        allowed = _allowed(follower.bitmask(), vocabulary)
        if allowed != expected.allowed:
            yield f"after {expected.after!r}, {sorted(allowed)} are allowed, not {sorted(expected.allowed)}"
    for text in case.accepted[:4]:
        follower = Matcher(grammar, vocabulary)
        for position in range(min(len(text), _MOST_POSITIONS) + 1):
            found = follower.bitmask()
            if not np.array_equal(found, brute_force(grammar, follower)):
                yield f"the mask after {text[:position]!r} is not the set of tokens that the automaton reads"
            reference = compute_reference_mask(vocabulary.trie, grammar.automaton, follower.configuration)
            reference[vocabulary.size - 1 >> 5] |= np.uint32(follower.is_accepting) << np.uint32(
                vocabulary.size - 1 & 31
            )
            if not np.array_equal(found.view(np.uint32), reference):
                yield f"the mask after {text[:position]!r} is not the reference mask"
            if not follower.accept_bytes(text[position : position + 1]) and position < len(text):
                yield f"the matcher does not take {text[: position + 1]!r}"


def _allowed(mask: Any, vocabulary: Vocabulary) -> frozenset[str]:
    names = [EOS_TEXT if token is None else token.decode("utf-8", "backslashreplace") for token in vocabulary.tokens]
    return frozenset(name for token_id, name in enumerate(names) if allows(mask, token_id))


def completions(case: Case) -> Outcome | None:
    """Search the shortest completions, of the whole and after prefixes of accepted texts, and the forced bytes."""
    return _of_grammar(case, lambda: _completion_problems(case, grammar_of(case)))


def _completion_problems(case: Case, grammar: CompiledGrammar) -> Iterator[str]:
    start = Matcher(grammar, byte_vocabulary())
    found = start.shortest_completion()
    if case.shortest_length is not None and (found.at_least, found.at_most) != (case.shortest_length,) * 2:
        yield f"the shortest text has {found.at_least} to {found.at_most} bytes, not {case.shortest_length}"
    if case.shortest is not None and not grammar.fullmatch(case.shortest):
        yield f"{case.shortest!r} is refused"
    if not case.accepted and not grammar.is_empty:
        yield "the grammar accepts some text"
    for text in case.accepted:
        if found.at_least is None or len(text) < found.at_least:
            yield f"{text!r} is shorter than the shortest text"
        for end in {len(text) // 3, len(text) // 2, max(0, len(text) - 1), len(text)}:
            follower = start.fork()
            follower.accept_bytes(text[:end])
            rest = follower.shortest_completion()
            if rest.at_least is None or rest.at_least > len(text) - end:
                yield f"{text[:end]!r} has a shorter completion than {rest.at_least} bytes"
            if rest.text is not None and not grammar.fullmatch(text[:end] + rest.text):
                yield f"{rest.text!r} does not complete {text[:end]!r}"
            forced = follower.forced_bytes(_MOST_FORCED)
            if not text[end:].startswith(forced[: len(text) - end]):
                yield f"{forced!r} is forced after {text[:end]!r}, but {text!r} is accepted"
    for text, expected in case.forced.items():
        follower = start.fork()
        forced = follower.forced_bytes(_MOST_FORCED) if follower.accept_bytes(text) else None
        if forced != expected:
            yield f"after {text!r}, {forced!r} is forced, not {expected!r}"


def verdicts(case: Case) -> Outcome | None:
    """Judge each text as an output."""
    return _of_grammar(case, lambda: _verdict_problems(case, grammar_of(case)))


def _verdict_problems(case: Case, grammar: CompiledGrammar) -> Iterator[str]:
    for text, accepted in case.texts:
        verdict = replay_text(grammar, text, advise=False)
        if verdict.is_complete != accepted:
            yield f"{text!r} is judged {verdict.outcome.value}"
        if not text.startswith(verdict.data[: verdict.legal]) or (accepted and verdict.legal != len(text)):
            yield f"{verdict.legal} bytes of {text!r} are judged legal"
    for text in case.dead:
        verdict = replay_text(grammar, text, advise=False)
        if verdict.is_prefix or verdict.outcome in (VerdictOutcome.COMPLETE, VerdictOutcome.CUT_OFF):
            yield f"the dead prefix {text!r} is judged {verdict.outcome.value}"


def _of_grammar(case: Case, problems: Callable[[], Iterator[str]]) -> Outcome | None:
    return _first(problems()) if case.texts and not isinstance(compiled(case.name), GrammarError) else None


# ---------------------------------------------------------------------- independent judges


def reference(case: Case) -> Outcome | None:
    """Match short texts by the slow definition of what a parsed grammar means."""
    if not case.texts or case.notation == "json_schema":
        return None
    grammar = grammar_of(case)
    texts = {text: accepted for text, accepted in map(_decoded, case.texts) if text is not None}
    short = {text: accepted for text, accepted in texts.items() if len(text) <= _LONGEST_REFERENCE}
    if case.notation == "gbnf":
        assert grammar.grammar is not None
        matching = grammar_language.language(grammar.grammar, short)
    else:
        node, _ = parse(SourceText(case.source), case.compile_options.dialect, case.compile_options.limits)
        matching = {text for text in short if language.matches(node, text)}
    return _first(
        f"{text!r} is {'refused' if accepted else 'accepted'} by the reference"
        for text, accepted in short.items()
        if (text in matching) != accepted
    )


def oracle(case: Case) -> Outcome | None:
    """Ask the library that defines the language: `re`, or `jsonschema`.

    A schema's refused texts must be invalid only where every form of JSON is allowed: other options refuse valid ones.
    """
    if not case.texts or not case.oracle or case.options.get("dialect") == "ecma":
        return None
    if case.oracle == "re":
        pattern = re.compile(case.source)
        return _first(
            f"{text!r} is {'refused' if accepted else 'accepted'} by re"
            for text, accepted in map(_decoded, case.texts)
            if text is not None and (pattern.fullmatch(text) is not None) != accepted
        )
    schema = json.loads(case.source)
    kind = jsonschema.validators.validator_for(schema, _DRAFTS[case.options.get("draft", 2020)])
    validator = kind(schema, format_checker=kind.FORMAT_CHECKER)
    is_free = case.options.get("whitespace") == "any" and case.options.get("additional") != "closed"
    return _first(
        f"{text!r} is {'invalid' if accepted else 'valid'} by jsonschema"
        for text, accepted in case.texts
        if _is_valid(validator, text) != accepted and (accepted or is_free)
    )


_DRAFTS: Final = {
    4: jsonschema.Draft4Validator,
    6: jsonschema.Draft6Validator,
    7: jsonschema.Draft7Validator,
    2019: jsonschema.Draft201909Validator,
    2020: jsonschema.Draft202012Validator,
}


def _is_valid(validator: Any, text: bytes) -> bool:
    try:
        value = json.loads(text.decode(), parse_constant=_refuse_constant, object_pairs_hook=_unique)
    except (ValueError, UnicodeDecodeError):
        return False
    return bool(validator.is_valid(value))


def _refuse_constant(name: str) -> None:
    raise ValueError(name)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(dict(pairs)) != len(pairs):
        raise ValueError("a key is repeated")
    return dict(pairs)


def _decoded(text: tuple[bytes, bool]) -> tuple[str | None, bool]:
    try:
        return text[0].decode(), text[1]
    except UnicodeDecodeError:
        return None, text[1]


# ---------------------------------------------------------------------- exports


@dataclass(frozen=True)
class _ExportCase:
    """What an export is compared with: a grammar, its texts, and its dead prefixes.

    Numbers and strings of schemas have one form, since rules for every form are large: a text that has another form
    is refused.
    """

    grammar: CompiledGrammar
    texts: tuple[tuple[bytes, bool], ...]
    dead: tuple[bytes, ...]


@cache
def _export_case(name: str) -> _ExportCase:
    case = next(one for one in cases() if one.name == name)
    if case.notation != "json_schema":
        return _ExportCase(grammar_of(case), case.texts, case.dead)
    options = replace(case.compile_options, numbers="plain", escapes="shortest")
    grammar = compile_grammar(case.notation, case.source, options)
    texts = tuple((text, accepted and grammar.fullmatch(text)) for text, accepted in case.texts)
    return _ExportCase(grammar, texts, case.dead)


def python(case: Case) -> Outcome | None:
    """Run the tables of the Python export, once through JSON, in the code that users get."""
    return _of_export(case, _guide_problems)


def _guide_problems(expected: _ExportCase) -> Iterator[str]:
    job = ExportJob(expected.grammar, byte_vocabulary())
    guide = Guide(json.loads(json.dumps(tables_document(job, tables_of(expected.grammar)))))
    has_fewer = bool(guide.about["notes"])
    for text, accepted in expected.texts:
        state = guide.run(list(text))
        is_accepted = state is not None and guide.is_accepting(state)
        if is_accepted > accepted or (accepted > is_accepted and not has_fewer):
            yield f"{text!r} is {'refused' if accepted else 'accepted'} by the Python export"
    for text in expected.dead:
        if guide.run(list(text)) is not None:
            yield f"{text!r} is not dead in the Python export"


def gbnf(case: Case) -> Outcome | None:
    """Write a regex or schema as GBNF and compile it again."""
    return _of_export(case, _gbnf_problems) if case.notation != "gbnf" else None


def _gbnf_problems(expected: _ExportCase) -> Iterator[str]:
    text = to_gbnf(expected.grammar, NumberSpelling.ANY).text
    yield from _text_problems(expected, compile_grammar("gbnf", text), text)


def regex(case: Case) -> Outcome | None:
    """Write GBNF, a schema, or a regex with lookaround as a regex; compile it again, and run it by `re`."""
    return _of_export(case, _regex_problems)


def _regex_problems(expected: _ExportCase) -> Iterator[str]:
    options = expected.grammar.options
    text = to_regex(expected.grammar, NumberSpelling.ANY, dialect=options.dialect).text
    again = compile_grammar("regex", text, type(options)(dialect=options.dialect))
    yield from _text_problems(expected, again, text)
    pattern = re.compile(text) if options.dialect == "python" else None
    for data, accepted in map(_decoded, expected.texts):
        if pattern is not None and data is not None and (pattern.fullmatch(data) is not None) != accepted:
            yield f"{data!r} is {'refused' if accepted else 'accepted'} by re with {text[:200]!r}"


def _text_problems(expected: _ExportCase, again: CompiledGrammar, export: str) -> Iterator[str]:
    for text, accepted in expected.texts:
        if again.fullmatch(text) != accepted:
            yield f"{text!r} is {'refused' if accepted else 'accepted'} by the export {export[:200]!r}"
    for text in expected.dead:
        if again.automaton.run(again.automaton.start, text) != DEAD:
            yield f"{text!r} is not dead in the export {export[:200]!r}"


def _of_export(case: Case, problems: Callable[[_ExportCase], Iterator[str]]) -> Outcome | None:
    if not case.compiles or not case.accepted:
        return None
    expected = _export_case(case.name)
    try:
        return _first(problems(expected))
    except NotConvertibleError:
        return None
    except EngineError as error:
        return Outcome(refused=str(error))


PATHS: Final[dict[str, Path]] = {
    path.__name__: path
    for path in (
        findings,
        automaton,
        matcher,
        masks,
        completions,
        verdicts,
        reference,
        oracle,
        python,
        gbnf,
        regex,
    )
}
"""The paths by name."""
