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

from engine.automata.dfa.dfa import ByteDfa
from engine.automata.labels import label
from engine.cli.arguments import add_grammar, as_count, as_natural, as_text
from engine.cli.inputs import compile_options, load_source, read_grammar
from engine.cli.output import (
    CommandError,
    IllegalTextError,
    IllegalVerdict,
    ProgressLine,
    after_text,
    location_of,
    print_json,
    print_note,
)
from engine.compile import CompiledGrammar, compile_grammar
from engine.decoding import SamplerSettings
from engine.decoding.forced.encodings import Query, encodings_of, query_after
from engine.decoding.forced.lattice import Lattice
from engine.decoding.forced.merging import MergedAutomaton, forced_runs, forced_tokens, merge_forced, token_runs
from engine.decoding.forced.strategies import STRATEGIES
from engine.decoding.forced.tokenizer_encoding import encode_with_tokenizer
from engine.decoding.forced.values import EncodingComparison, FastForwardGeneration
from engine.decoding.generate import generate_fast_forward
from engine.export import NumberSpelling, TokenIndex, build_token_index, needs_closing, to_gbnf
from engine.matching import Matcher
from engine.models import LogitSource
from engine.models.text_encoder import text_encoder_of
from engine.notations import NOTATIONS
from engine.source import CancelToken, EngineError, LimitExceededError
from engine.source.catalogue import catalogue_text
from engine.source.number_format import percent
from engine.vocabulary import Vocabulary, visible

_MOST_STATES = 5_000
_MOST_LINES = 40
_MOST_SHOWN = 12


def add_options(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
    add_grammar(parser)
    parser.add_argument("--model", required=True)
    parser.add_argument("--prompt", type=as_text, default="")
    parser.add_argument("--text", type=as_text, default="")
    parser.add_argument("--of", type=as_text, metavar="PART")
    parser.add_argument("--paths", type=as_count, default=8, metavar="N")
    parser.add_argument("--spelling", choices=["plain", "any"])
    parser.add_argument("--max-tokens", type=as_count, default=256, metavar="N")
    parser.add_argument("--seed", type=as_natural, default=0, metavar="N")
    parser.add_argument("--greedy", action="store_true")
    shown = parser.add_mutually_exclusive_group()
    shown.add_argument("--dot", choices=["before", "after"])
    shown.add_argument("--index", action="store_true")
    parser.add_argument("--json", action="store_true")


def run(arguments: argparse.Namespace) -> int:
    """Print what is forced and what that saves."""
    _check(arguments)
    with ProgressLine() as cancel:
        grammar, compiled, notes = _grammar(arguments, cancel)
        if grammar.is_empty:
            raise CommandError("cli.forced.error.no_text")
        for note in notes:
            print_note(note)
        dfa, why_not = _byte_dfa(grammar, compiled, cancel)
        if (arguments.dot or arguments.index) and why_not is not None:
            raise why_not
        if arguments.dot:
            assert dfa is not None
            print(_as_dot(dfa, arguments.dot))
            return 0
        model = load_source(arguments.model, cancel)
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
        fail(catalogue_text("cli.forced.error.dot_json"))
    if arguments.spelling and not NOTATIONS[arguments.notation].describes_json:
        fail(catalogue_text("cli.forced.error.spelling"))
    if (arguments.dot or arguments.index) and (arguments.text or arguments.prompt or arguments.of is not None):
        fail(catalogue_text("cli.forced.error.whole_grammar"))


@dataclass(frozen=True, slots=True)
class _Part:
    """A part of the report, as data and as lines of text."""

    document: dict[str, Any]
    lines: list[str]


class _Report:
    """The report on a grammar and a model."""

    def __init__(
        self, grammar: CompiledGrammar, model: LogitSource, dfa: ByteDfa | None, why_not: EngineError | None
    ) -> None:
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
            line = catalogue_text("cli.forced.report.not_drawn", reason=self._why_not)
            return _Part({"automaton": None, "runs": None, "token_runs": None}, [line])
        merged = merge_forced(self._dfa)
        head = catalogue_text(
            "cli.forced.report.merged",
            states=catalogue_text("common.count.states", count=merged.states_before),
            edges=catalogue_text("common.count.edges", count=merged.edges_before),
            merged_states=len(merged.states),
            merged_edges=len(merged.edges),
        )
        lines = [
            head,
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
        lines += ["", catalogue_text("cli.forced.report.runs", count=len(runs))]
        lines += _shown(
            [
                f"  {run.state} → {run.target}  {visible(run.data)}  "
                f"{catalogue_text('cli.forced.report.encodings', count=entry['spellings'])}"
                for run, entry in zip(runs, listed, strict=True)
            ]
        )
        single = token_runs(forced_tokens(self._dfa, self._vocabulary), self._dfa.start)
        lines += ["", catalogue_text("cli.forced.report.token_runs", count=len(single))]
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
            spans = [location_of(span, self._grammar.source) for span in found.spans]
            verdict = IllegalVerdict(found.offset or 0, found.expected, spans)
            raise IllegalTextError("cli.forced.error.illegal", verdict, text=visible(data))
        run = matcher.forced_bytes()
        where = after_text(visible(data))
        if not run:
            if part is not None:
                raise CommandError("cli.forced.error.no_part", where=where)
            line = catalogue_text("cli.forced.report.nothing_forced", where=where)
            return lambda _: _Part({"forced": "", "paths": []}, [line])
        begin, end = 0, len(run)
        if part is not None:
            begin = run.find(part.encode()) if part else -1
            end = begin + len(part.encode())
            if begin < 0:
                given = {"part": part, "where": where, "run": visible(run)}
                raise CommandError("cli.forced.error.other_part", **given)
        taken = (
            encode_with_tokenizer(data, self._vocabulary, self._spell) or Lattice.of(data, self._vocabulary).longest()
        )
        if taken is None:
            raise self._no_tokens(data)
        ask = query_after(self._model, [*self._model.encode(prompt), *taken])
        return lambda most: self._compared(matcher, run, (begin, end), ask, most)

    def _compared(self, matcher: Matcher, run: bytes, part: tuple[int, int], ask: Query, most: int) -> _Part:
        found = encodings_of(matcher, run, part, self._spell, ask, most)
        if found is None:
            raise self._no_tokens(run)
        spelled = run[found.begin : found.end]
        head = catalogue_text(
            "cli.forced.report.listed" if found.is_exact else "cli.forced.report.listed_found",
            text=visible(spelled),
            count=found.count,
            listed=len(found.outlooks),
        )
        lines = [head]
        inner = {one.ids: one.ids[len(found.before) : len(one.ids) - len(found.behind)] for one in found.outlooks}
        pieces = {ids: self._in_words(part) for ids, part in inner.items()}
        width = max(map(len, pieces.values()))
        lines += [
            f"  {'*' if one.is_own else ' '}{'^' if one.ids == found.likeliest else ' '} {pieces[one.ids]:{width}}  "
            f"{catalogue_text('cli.forced.report.log_p', value=one.log_p)}  {_following(one)}"
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

    def _no_tokens(self, data: bytes) -> CommandError:
        return CommandError("cli.forced.error.no_tokens", model=self._model.name, text=visible(data))

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
            for strategy in STRATEGIES.names
        ]
        if arguments.greedy:
            lines = [catalogue_text("cli.forced.report.strategies_greedy")]
        else:
            lines = [catalogue_text("cli.forced.report.strategies", seed=arguments.seed)]
        for one in generations:
            tokens = catalogue_text("common.count.tokens", count=len(one.generation.steps))
            calls = catalogue_text("common.count.calls", count=one.calls)
            saved = catalogue_text("cli.forced.report.saved", count=one.saved)
            output = visible(one.generation.output)
            lines.append(f"  {one.strategy:9} {tokens:>11} {calls:>10} {saved:>11}  {one.seconds:7.3f} s  {output}")
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


def _byte_dfa(
    grammar: CompiledGrammar, compiled: CompiledGrammar, cancel: CancelToken
) -> tuple[ByteDfa | None, EngineError | None]:
    if not grammar.is_regular:
        if needs_closing(compiled, cancel):
            return None, CommandError("export.refusal.fragment.close_objects")
        return None, CommandError("cli.forced.error.needs_stack")
    if grammar.automaton.token_elements:
        return None, CommandError("cli.forced.error.names_tokens")
    try:
        return grammar.materialise(_MOST_STATES, cancel=cancel), None
    except LimitExceededError as error:
        return None, error


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
        texts = catalogue_text("cli.forced.report.nothing")
    else:
        end = catalogue_text("common.fragment.end")
        texts = ", ".join(f"{_begins(shown.data) or end} {percent(shown.p)}" for shown in one.following[:4])
    return catalogue_text("cli.forced.report.then", texts=texts)


def _begins(data: bytes) -> str:
    shown = visible(data)
    return shown if len(shown) <= _MOST_SHOWN else f"{shown[: _MOST_SHOWN - 1]}…"


def _finite(number: float) -> float | None:
    return number if abs(number) < float("inf") else None  # false for NaN, too


def _shown(lines: list[str]) -> list[str]:
    more = len(lines) - _MOST_LINES
    return lines if more <= 0 else [*lines[:_MOST_LINES], f"  {catalogue_text('cli.message.and_more', count=more)}"]


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
            print(f"{state}: {catalogue_text('cli.forced.report.many_tokens', count=len(row))}")
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
