"""`turnstile forced`: the text that a grammar forces, its encodings, and the model calls that fast-forward saves.

A JSON Schema accepts every escape that JSON has (`n` is also `\\u006e`), so hardly any of its text is forced. A server
that writes only one form forces the keys: this form, which `export` writes too, is analysed unless `--spelling any` is
given.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from engine import models
from engine.automata.dfa.dfa import ByteDfa
from engine.automata.labels import label
from engine.cli.arguments import add_grammar, as_count, as_natural, as_text
from engine.cli.inputs import compile_options, read_grammar
from engine.cli.output import CommandError, IllegalTextError, ProgressLine, location_of, print_json, print_message
from engine.compile import CompiledGrammar, compile_grammar
from engine.decoding import SamplerSettings
from engine.decoding.forced.encodings import Query, encodings_of, query_after
from engine.decoding.forced.lattice import Lattice
from engine.decoding.forced.merging import MergedAutomaton, forced_runs, forced_tokens, merge_forced, token_runs
from engine.decoding.forced.tokenizer_encoding import encode_with_tokenizer
from engine.decoding.forced.values import EncodingComparison, FastForwardGeneration
from engine.decoding.generate import generate_fast_forward
from engine.decoding.pipeline_settings import Strategy
from engine.export import CLOSE_OBJECTS, NumberSpelling, TokenIndex, build_token_index, needs_closing, to_gbnf
from engine.matching import Matcher
from engine.models import LogitSource
from engine.models.text_encoder import text_encoder_of
from engine.notations import NOTATIONS
from engine.source import CancelToken, LimitExceededError
from engine.source.number_format import percent
from engine.vocabulary import Vocabulary, visible

_MOST_STATES = 5_000
_MOST_LINES = 40
_MOST_SHOWN = 12


def add_options(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
    add_grammar(parser)
    parser.description = (
        "Shows the texts that a grammar forces, the automaton with forced runs merged, the encodings of a forced text "
        "with their probabilities, and how many model calls fast-forwarding saves."
    )
    parser.add_argument(
        "--model", required=True, help="the model, as for generate; uniform:PATH is a tokenizer without one"
    )
    parser.add_argument("--prompt", type=as_text, default="", help="what the model reads first")
    parser.add_argument("--text", type=as_text, default="", help="the text so far (empty)")
    parser.add_argument("--of", type=as_text, metavar="PART", help="list the encodings of a part of the forced text")
    parser.add_argument("--paths", type=as_count, default=8, metavar="N", help="list at most N encodings (8)")
    parser.add_argument(
        "--spelling",
        choices=["plain", "any"],
        help="forms of strings and numbers of a JSON Schema: the shortest, or any, with which little is forced (plain)",
    )
    parser.add_argument(
        "--max-tokens",
        type=as_count,
        default=256,
        metavar="N",
        help="largest number of tokens of the generations (256)",
    )
    parser.add_argument("--seed", type=as_natural, default=0, metavar="N", help="seed of the generations (0)")
    parser.add_argument("--greedy", action="store_true", help="generate the most probable text")
    shown = parser.add_mutually_exclusive_group()
    shown.add_argument("--dot", choices=["before", "after"], help="print the automaton and nothing else, for Graphviz")
    shown.add_argument("--index", action="store_true", help="print {state: {token: next}} and nothing else")
    parser.add_argument("--json", action="store_true", help="print it as JSON")


def run(arguments: argparse.Namespace) -> int:
    """Print what is forced and what that saves."""
    _check(arguments)
    with ProgressLine() as cancel:
        grammar, compiled, notes = _grammar(arguments, cancel)
        if grammar.is_empty:
            raise CommandError("no text matches this grammar, so nothing is forced")
        for note in notes:
            print_message(f"note: {note}")
        dfa, why_not = _byte_dfa(grammar, compiled, cancel)
        if (arguments.dot or arguments.index) and dfa is None:
            raise CommandError(why_not)
        if arguments.dot:
            assert dfa is not None
            print(_as_dot(dfa, arguments.dot))
            return 0
        model = models.load_model(arguments.model, cancel=cancel)
        if arguments.index:
            _print_index(grammar, model.vocabulary, cancel, as_json=arguments.json)
            return 0
        report = _Report(grammar, model, dfa, why_not)
        found = report.found(arguments, cancel)
    if arguments.json:
        print_json(found.document)
    else:
        print("\n".join(found.lines))
    return 0


def _check(arguments: argparse.Namespace) -> None:
    """Exit with an error if options contradict each other; no option is silently ignored."""
    fail = arguments.parser.error
    if arguments.dot and arguments.json:
        fail("--dot prints Graphviz's own form: leave --json out")
    if arguments.spelling and not NOTATIONS[arguments.notation].describes_json:
        fail("--spelling is about strings in a JSON Schema: leave it out")
    if (arguments.dot or arguments.index) and (arguments.text or arguments.prompt or arguments.of is not None):
        fail("--dot and --index are about the whole grammar: leave --text, --prompt and --of out")


@dataclass(frozen=True, slots=True)
class _Part:
    """A part of the report, as data and as lines of text."""

    document: dict[str, Any]
    lines: list[str]


class _Report:
    """The report on a grammar and a model."""

    def __init__(self, grammar: CompiledGrammar, model: LogitSource, dfa: ByteDfa | None, why_not: str) -> None:
        self._grammar, self._model = grammar, model
        self._vocabulary, self._spell = model.vocabulary, text_encoder_of(model)
        self._dfa, self._why_not = dfa, why_not

    def found(self, arguments: argparse.Namespace, cancel: CancelToken) -> _Part:
        """Return the complete report.

        Raises:
            CommandError: the text, or the part, does not match the grammar.
            CancelledError: it was cancelled.
        """
        document: dict[str, Any] = {}
        lines: list[str] = []
        encodings = self._encodings_report(arguments.prompt, arguments.text, arguments.of)
        strategies = self._strategies(arguments, cancel)  # before the encodings, since the model caches its answers
        for part in (self._automaton(), encodings(arguments.paths), strategies):
            document |= part.document
            lines += [*([""] if lines else []), *part.lines]
        return _Part(document, lines)

    # ------------------------------------------------------------------ the automaton

    def _automaton(self) -> _Part:
        if self._dfa is None:
            return _Part({"automaton": None, "runs": None, "token_runs": None}, [f"not drawn: {self._why_not}"])
        merged = merge_forced(self._dfa)
        before = f"{_many(merged.states_before, 'state')} and {_many(merged.edges_before, 'edge')}"
        lines = [
            f"{before}; with forced runs merged {len(merged.states):,} and {len(merged.edges):,}:",
            *_shown([f"  {edge.source} → {edge.target}  {edge.label}" for edge in merged.edges]),
        ]
        runs = forced_runs(self._dfa)
        listed: list[dict[str, Any]] = []
        for run in runs:
            own = encode_with_tokenizer(run.data, self._vocabulary, self._spell)
            ways = Lattice.of(run.data, self._vocabulary).count
            listed.append(
                {
                    "state": run.state,
                    "target": run.target,
                    "text": _text(run.data),
                    "spellings": ways,
                    "own": None if own is None else list(own),
                }
            )
        lines += ["", f"{_many(len(runs), 'forced run')}, by bytes:"]
        lines += _shown(
            [
                f"  {run.state} → {run.target}  {visible(run.data)}  {_many(entry['spellings'], 'spelling')}"
                for run, entry in zip(runs, listed, strict=True)
            ]
        )
        single = token_runs(forced_tokens(self._dfa, self._vocabulary), self._dfa.start)
        lines += ["", f"{_many(len(single), 'run')} of states with one token:"]
        lines += _shown([f"  {state}  {self._in_words(ids)}" for state, ids in single])
        return _Part(
            {
                "automaton": _merged_as_data(merged),
                "runs": listed,
                "token_runs": [{"state": state, "ids": list(ids)} for state, ids in single],
            },
            lines,
        )

    # ------------------------------------------------------------------ the encodings of one run

    def _encodings_report(self, prompt: str, text: str, part: str | None) -> Callable[[int], _Part]:
        """Return a function that reports a number of encodings; errors in the arguments are raised at once."""
        matcher = Matcher(self._grammar, self._vocabulary)
        data = text.encode()
        if not matcher.accept_bytes(data):
            found = matcher.explain(data)
            message = f"no match begins with `{visible(data)}`"
            spans = [location_of(span, self._grammar.source) for span in found.spans]
            raise IllegalTextError(message, found.offset or 0, found.expected, spans)
        run = matcher.forced_bytes()
        where = f"behind `{visible(data)}`" if data else "at the beginning"
        if not run:
            if part is not None:
                raise CommandError(f"nothing is forced {where}, so there is no part of it: see --text")
            return lambda _: _Part({"forced": "", "paths": []}, [f"nothing is forced {where}"])
        begin, end = 0, len(run)
        if part is not None:
            begin = run.find(part.encode()) if part else -1
            end = begin + len(part.encode())
            if begin < 0:
                raise CommandError(f"`{part}` is no part of what is forced {where}: `{visible(run)}`")
        taken = (
            encode_with_tokenizer(data, self._vocabulary, self._spell) or Lattice.of(data, self._vocabulary).longest()
        )
        if taken is None:
            raise CommandError(f"no tokens of {self._model.name} spell `{visible(data)}`")
        ask = query_after(self._model, [*self._model.encode(prompt), *taken])
        return lambda most: self._compared(matcher, run, (begin, end), ask, most)

    def _compared(self, matcher: Matcher, run: bytes, part: tuple[int, int], ask: Query, most: int) -> _Part:
        found = encodings_of(matcher, run, part, self._spell, ask, most)
        if found is None:
            raise CommandError(f"no tokens of {self._model.name} spell `{visible(run)}`")
        sure = "the likeliest" if found.is_exact else "the likeliest that was found"
        counted = f"{found.count:,}, {len(found.outlooks)} listed"
        spelled = run[found.begin : found.end]
        lines = [f"spellings of `{visible(spelled)}`: {counted} (* the tokenizer's own, ^ {sure})"]
        inner = {one.ids: one.ids[len(found.before) : len(one.ids) - len(found.behind)] for one in found.outlooks}
        pieces = {ids: self._in_words(part) for ids, part in inner.items()}
        width = max(map(len, pieces.values()))
        lines += [
            f"  {'*' if one.is_own else ' '}{'^' if one.ids == found.likeliest else ' '} {pieces[one.ids]:{width}}  "
            f"ln p {one.log_p:8.2f}  then {_following(one)}"
            for one in found.outlooks
        ]
        document = {
            "forced": _text(run),
            "part": _text(spelled),
            "spellings": found.count,
            "likeliest_is_exact": found.is_exact,
            "paths": [self._path(one, is_likeliest=one.ids == found.likeliest) for one in found.outlooks],
        }
        return _Part(document, lines)

    def _path(self, one: EncodingComparison, *, is_likeliest: bool) -> dict[str, Any]:
        return {
            "ids": list(one.ids),
            "tokens": [_text(self._vocabulary.tokens[token_id] or b"") for token_id in one.ids],
            "own": one.is_own,
            "likeliest": is_likeliest,
            "log_p": _finite(one.log_p),
            "z": one.z,
            "next": [{"text": _text(each.data), "end": not each.data, "p": _finite(each.p)} for each in one.following],
        }

    # ------------------------------------------------------------------ the strategies

    def _strategies(self, arguments: argparse.Namespace, cancel: CancelToken) -> _Part:
        sampler = SamplerSettings(seed=arguments.seed, temperature=0.0 if arguments.greedy else 1.0)
        # A call before the measurement: the first call of a model is slower than the others.
        self._model.logits(self._model.encode(arguments.prompt))
        timings: dict[tuple[int, ...], float] = {}
        generations = [
            generate_fast_forward(
                self._grammar,
                self._model,
                strategy,
                prompt=arguments.prompt,
                sampler=sampler,
                max_tokens=arguments.max_tokens,
                cancel=cancel,
                timings=timings,
            )
            for strategy in Strategy
        ]
        how = "the most probable token" if arguments.greedy else f"seed {arguments.seed}"
        lines = [f"strategies, {how}:"]
        lines += [
            f"  {one.strategy:9} {_many(len(one.generation.steps), 'token'):>11} {_many(one.calls, 'call'):>10} "
            f"{one.saved:>5} saved  {one.seconds:7.3f} s  {visible(one.generation.output)}"
            for one in generations
        ]
        return _Part({"strategies": [_strategy(one) for one in generations]}, lines)

    def _in_words(self, ids: Sequence[int]) -> str:
        return " ".join(visible(self._vocabulary.tokens[token_id] or b"") for token_id in ids)


def _grammar(
    arguments: argparse.Namespace, cancel: CancelToken
) -> tuple[CompiledGrammar, CompiledGrammar, tuple[str, ...]]:
    """Return the grammar to analyse, the one it was made from, and notes on texts that it lacks."""
    grammar = compile_grammar(arguments.notation, read_grammar(arguments), compile_options(arguments), cancel=cancel)
    if not grammar.describes_json or arguments.spelling == "any" or grammar.is_empty:
        return grammar, grammar, ()
    plain = to_gbnf(grammar, NumberSpelling.PLAIN, cancel=cancel)
    return compile_grammar("gbnf", plain.text, cancel=cancel), grammar, plain.notes


def _byte_dfa(grammar: CompiledGrammar, compiled: CompiledGrammar, cancel: CancelToken) -> tuple[ByteDfa | None, str]:
    if not grammar.is_regular:
        if needs_closing(compiled, cancel):
            return None, CLOSE_OBJECTS
        return None, "the grammar needs a stack, so it has no automaton of this kind"
    if grammar.automaton.token_elements:
        return None, "the grammar names tokens, which an automaton over bytes does not show"
    try:
        return grammar.materialise(_MOST_STATES, cancel=cancel), ""
    except LimitExceededError as error:
        return None, str(error)


def _strategy(one: FastForwardGeneration) -> dict[str, Any]:
    return {
        "strategy": one.strategy,
        "text": one.generation.text,
        "finish": one.generation.finish,
        "ids": [step.token_id for step in one.generation.steps],
        "tokens": len(one.generation.steps),
        "calls": one.calls,
        "saved": one.saved,
        "taken_back": one.taken_back,
        "model_seconds": one.model_seconds,
        "seconds": one.seconds,
    }


def _following(one: EncodingComparison) -> str:
    if one.z == 0:
        return "nothing that the model would write"
    shown = [f"{_begins(shown.data) or 'the end'} {percent(shown.p)}" for shown in one.following[:4]]
    return ", ".join(shown)


def _begins(data: bytes) -> str:
    shown = visible(data)
    return shown if len(shown) <= _MOST_SHOWN else f"{shown[: _MOST_SHOWN - 1]}…"


def _finite(number: float) -> float | None:
    return number if abs(number) < float("inf") else None  # false for NaN, too


def _shown(lines: list[str]) -> list[str]:
    more = len(lines) - _MOST_LINES
    return lines if more <= 0 else [*lines[:_MOST_LINES], f"  and {more:,} more"]


def _many(count: int, noun: str) -> str:
    return f"{count:,} {noun}" + ("" if count == 1 else "s")


def _text(data: bytes) -> str:
    return data.decode("utf-8", "backslashreplace")


# ---------------------------------------------------------------------- the automaton


_MOST_INDEXED = 500


def _print_index(grammar: CompiledGrammar, vocabulary: Vocabulary, cancel: CancelToken, *, as_json: bool) -> None:
    """Print `{state: {token: next}}`, one state per line with its tokens as text; wide states as a token count.

    Args:
        grammar: the grammar.
        vocabulary: the vocabulary of the tokens.
        cancel: cancels the computation.
        as_json: whether to print JSON instead.
    """
    index = build_token_index(grammar, vocabulary, cancel=cancel)
    if as_json:
        print_json({str(state): {str(i): t for i, t in row.items()} for state, row in _rows(index)})
        return
    tokens = vocabulary.tokens
    for state, row in _rows(index):
        if not row:
            continue
        if len(row) > _MOST_INDEXED:
            print(f"{state}: {{… {len(row):,} tokens …}}")
            continue
        words = ", ".join(f"{visible(tokens[token_id] or b'')}" for token_id in row)
        print(f"{state}: {{{', '.join(f'{token_id}: {after}' for token_id, after in row.items())}}}  {words}")


def _rows(index: TokenIndex) -> Iterator[tuple[int, dict[int, int]]]:
    for state, (ids, targets) in enumerate(zip(index.tokens, index.targets, strict=True)):
        yield state, dict(zip(ids.tolist(), targets.tolist(), strict=True))


def _as_dot(dfa: ByteDfa, which: str) -> str:
    """Return the automaton `before` or `after` merging its forced runs, for Graphviz."""
    merged = merge_forced(dfa)
    if which == "after":
        states, accepting = merged.states, merged.accepting
        edges = [(edge.source, edge.target, edge.label) for edge in merged.edges]
    else:
        states = tuple(state.id for state in dfa.states)
        accepting = frozenset(state.id for state in dfa.states if state.accepting)
        edges = [(edge.source, edge.target, label(edge.ranges)) for edge in dfa.edges]
    lines = ["digraph {", "  rankdir=LR;", "  start [shape=point];"]
    lines += [f"  {state} [shape={'doublecircle' if state in accepting else 'circle'}];" for state in states]
    lines += [f"  start -> {merged.start};"]
    lines += [f'  {source} -> {target} [label="{_quoted(edge_label)}"];' for source, target, edge_label in edges]
    return "\n".join([*lines, "}"])


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')


def _merged_as_data(merged: MergedAutomaton) -> dict[str, Any]:
    """Return the automaton with forced runs merged, as data."""
    return {
        "start": merged.start,
        "states": list(merged.states),
        "accepting": sorted(merged.accepting),
        "states_before": merged.states_before,
        "edges_before": merged.edges_before,
        "edges": [
            {
                "source": edge.source,
                "target": edge.target,
                "bytes": [list(pair) for pair in edge.ranges],
                "then": list(edge.rest),
                "label": edge.label,
                "through": list(edge.through),
            }
            for edge in merged.edges
        ],
    }
