"""`turnstile explain` and `turnstile mask`: a grammar after a text, and the meaning of its parts."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from typing import Any

import numpy as np

from engine.analysis.dead_end_search import DeadEnd, dead_ends
from engine.analysis.token_completion import TokenCompletion
from engine.automata.completion import Completion
from engine.cli.arguments import add_grammar, add_vocabulary, as_natural, as_text
from engine.cli.inputs import compile_argument, load_vocabulary
from engine.cli.output import (
    CommandError,
    IllegalTextError,
    IllegalVerdict,
    ProgressLine,
    after_text,
    location_of,
    show,
)
from engine.compile import CompiledGrammar
from engine.diagnosis.distance import distance_prose
from engine.masking.bitmask import unpack_mask
from engine.matching import Matcher
from engine.matching.byte_descriptions import byte_prose
from engine.matching.explanation import Explanation, StackVerdict
from engine.matching.explanation_text import explain_stacks, location_text
from engine.notations import NOTATIONS
from engine.notations.explanation import Description, Phrase
from engine.source import CancelToken, SourceText, Span
from engine.source.catalogue import catalogue_text
from engine.vocabulary import Vocabulary, visible

MOST_SHOWN = 40
MOST_DEAD_ENDS = 20


def add_options(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
    add_grammar(parser)
    parser.add_argument("--text", type=as_text, default="")
    about = parser.add_mutually_exclusive_group()
    about.add_argument("--next", type=as_text, metavar="TEXT")
    about.add_argument("--token", type=as_natural, metavar="ID")
    about.add_argument("--dead-ends", action="store_true")
    about.add_argument("--tree", action="store_true")
    add_vocabulary(parser, required=False)
    parser.add_argument("--json", action="store_true")


def run(arguments: argparse.Namespace) -> int:
    """Print why a token or a text may not come next, or what may, and the distance to the end."""
    if arguments.tree:
        return _tree(arguments)
    query = _query(arguments)
    has_vocabulary = bool(arguments.model or arguments.tokenizer)
    if not has_vocabulary and (arguments.token is not None or arguments.dead_ends):
        arguments.parser.error(catalogue_text("cli.explain.error.needs_vocabulary"))
    grammar = compile_argument(arguments)
    with ProgressLine() as cancel:
        analysis = Analysis(grammar, load_vocabulary(arguments, cancel) if has_vocabulary else None, arguments.text)
        if arguments.dead_ends:
            found = analysis.dead_ends(cancel, as_json=arguments.json)
        elif query is not None:
            found = analysis.verdict(query, as_json=arguments.json)
        else:
            found = analysis.position(cancel, as_json=arguments.json)
    show(found)
    return 0


def _tree(arguments: argparse.Namespace) -> int:
    """Print the meaning of each part of a grammar."""
    if arguments.text or arguments.model or arguments.tokenizer:
        arguments.parser.error(catalogue_text("cli.explain.error.tree"))
    grammar = compile_argument(arguments)
    with ProgressLine() as cancel:
        found = _described(grammar, cancel, as_json=arguments.json)
    show(found)
    return 0


def _every_byte() -> Vocabulary:
    """Return a vocabulary of the 256 bytes, for commands without another one."""
    return Vocabulary([bytes((byte,)) for byte in range(256)], [])


class Analysis:
    """A grammar after a text.

    Raises:
        IllegalTextError: no match begins with the text.
        CommandError: the grammar names tokens and there is no vocabulary.
    """

    def __init__(self, grammar: CompiledGrammar, vocabulary: Vocabulary | None, text: str) -> None:
        self._source = grammar.source
        self._grammar = grammar
        self._vocabulary = vocabulary
        if vocabulary is None and grammar.automaton.token_elements:
            raise CommandError("cli.explain.error.names_tokens")
        self._matcher = Matcher(grammar, vocabulary or _every_byte())
        data = text.encode()
        if grammar.is_empty:
            reason = catalogue_text("cli.explain.prose.empty")
            raise IllegalTextError("cli.explain.error.illegal", reason=reason)
        if not self._matcher.accept_bytes(data):
            found = self._matcher.explain(data)
            spans = _places(found.spans, grammar.source)
            verdict = IllegalVerdict(found.offset or 0, found.expected, spans)
            raise IllegalTextError("cli.explain.error.illegal", verdict, reason=found.sentence)

    # ------------------------------------------------------------------ explanations

    def verdict(self, token: int | bytes, *, as_json: bool) -> dict[str, object] | list[str]:
        """Explain whether a token or a text may come next."""
        found = self._matcher.explain(token)
        if as_json:
            return {**_explanation(found, self._source), "prose": found.sentence}
        return [
            found.sentence,
            *(f"- {line}" for line in explain_stacks(found.stacks, self._source, found.token or b"")),
        ]

    def position(self, cancel: CancelToken, *, as_json: bool) -> dict[str, object] | list[str]:
        """Describe what may come next on which stack, and the distance to the end."""
        matcher = self._matcher
        completion = matcher.shortest_completion(cancel=cancel)
        tokens = matcher.shortest_token_completion(cancel=cancel) if self._vocabulary else None
        stacks = matcher.stacks()
        if as_json:
            return {
                "accepting": matcher.is_accepting,
                "exhausted": matcher.is_exhausted,
                "forced": _text(matcher.forced_bytes()),
                "stacks": [_stack(stack, self._source) for stack in stacks],
                "completion": _completion(completion),
                "tokens": None if tokens is None else _tokens(tokens),
            }
        forced = matcher.forced_bytes()
        return [
            *([catalogue_text("cli.explain.prose.exhausted")] if matcher.is_exhausted else []),
            distance_prose(completion, tokens),
            *([catalogue_text("cli.explain.prose.forced", text=visible(forced))] if forced else []),
            *(f"- {line}" for line in explain_stacks(stacks, self._source)),
        ]

    def dead_ends(self, cancel: CancelToken, *, as_json: bool) -> dict[str, object] | list[str]:
        """List the configurations from which no tokens lead to a match, anywhere in the grammar."""
        assert self._vocabulary is not None
        found = dead_ends(self._grammar, self._vocabulary, cancel=cancel)
        if as_json:
            listed = [
                {**asdict(one), "text": _text(one.text), "spans": _places(one.spans, self._source)}
                for one in found.found
            ]
            return {"dead_ends": listed, "complete": found.is_complete, "places": found.n_explored}
        if not found.found:
            if found.is_complete:
                return [catalogue_text("cli.explain.prose.no_dead_end")]
            return [catalogue_text("cli.explain.prose.no_certain_dead_end", count=found.n_explored)]
        lines = [self._dead_end(one) for one in found.found[:MOST_DEAD_ENDS]]
        more = len(found.found) - len(lines)
        return [
            *lines,
            *([catalogue_text("cli.message.and_more", count=more)] if more else []),
            *([] if found.is_complete else [catalogue_text("cli.explain.prose.may_be_more")]),
        ]

    def _dead_end(self, end: DeadEnd) -> str:
        kind = "trap" if end.is_trap else "no_token"
        expected = byte_prose(end.expected)
        text = catalogue_text(f"cli.explain.dead_end.{kind}", where=after_text(visible(end.text)), bytes=expected)
        location = location_text(end.spans, self._source)
        return catalogue_text("cli.explain.dead_end.located", text=text, location=location) if location else text

    # ------------------------------------------------------------------ tokens

    def mask(self, *, as_json: bool) -> dict[str, object] | list[str]:
        """List the allowed tokens."""
        assert self._vocabulary is not None
        ids = np.flatnonzero(unpack_mask(self._matcher.bitmask(), self._vocabulary.size)).tolist()
        if as_json:
            return {"legal": True, "allowed": len(ids), "of": self._vocabulary.size, "ids": ids}
        lines = [catalogue_text("cli.mask.allowed", allowed=len(ids), total=self._vocabulary.size)]
        lines += [f"{token_id:>8} {self.name(token_id)}" for token_id in ids[:MOST_SHOWN]]
        if len(ids) > MOST_SHOWN:
            lines.append(catalogue_text("cli.message.and_more", count=len(ids) - MOST_SHOWN))
        return lines

    def name(self, token_id: int) -> str:
        """Return the text of a token, or the name of a special one."""
        assert self._vocabulary is not None
        data = self._vocabulary.tokens[token_id]
        return visible(data) if data else self._vocabulary.special.get(token_id, f"#{token_id}")


def _query(arguments: argparse.Namespace) -> int | bytes | None:
    """Return the token or text that the command line asks about, if any."""
    if arguments.token is not None:
        return int(arguments.token)
    return None if arguments.next is None else str(arguments.next).encode()


def _explanation(found: Explanation, source: SourceText) -> dict[str, object]:
    return {
        "reason": found.reason,
        "allowed": found.allowed,
        "token": None if found.token is None else _text(found.token),
        "offset": found.offset,
        "expected": [list(pair) for pair in found.expected],
        "tokens": list(found.tokens),
        "accepting": found.accepting,
        "spans": _places(found.spans, source),
        "stacks": [_stack(stack, source) for stack in found.stacks],
    }


def _stack(stack: StackVerdict, source: SourceText) -> dict[str, object]:
    return {
        "offset": stack.offset,
        "expected": [list(pair) for pair in stack.expected],
        "tokens": list(stack.tokens),
        "accepting": stack.accepting,
        "rules": list(stack.rules),
        "properties": list(stack.properties),
        "other_properties": stack.other_properties,
        "spans": _places(stack.spans, source),
    }


def _places(spans: tuple[Span, ...], source: SourceText) -> list[dict[str, object]]:
    return [location_of(span, source) for span in spans]


def _completion(found: Completion) -> dict[str, Any]:
    text = None if found.text is None else _text(found.text)
    return {"at_least": found.at_least, "at_most": found.at_most, "text": text}


def _tokens(found: TokenCompletion) -> dict[str, Any]:
    ids = None if found.token_ids is None else list(found.token_ids)
    return {"at_least": found.at_least, "at_most": found.at_most, "ids": ids, "dead_end": found.is_dead_end}


def _text(data: bytes) -> str:
    """Decode bytes; escape invalid UTF-8, so that distinct byte strings stay distinct."""
    return data.decode("utf-8", "backslashreplace")


def _described(grammar: CompiledGrammar, cancel: CancelToken, *, as_json: bool) -> dict[str, object] | list[str]:
    """Explain each part of a grammar's text."""
    with cancel.scope():
        found = NOTATIONS[grammar.notation].explain(grammar.source, grammar.options)
    return _as_data(found, grammar.source) if as_json else list(found.lines())


def _as_data(found: Description, source: SourceText) -> dict[str, object]:
    return {"phrases": [_phrase(phrase, source) for phrase in found.phrases], "complete": found.is_whole}


def _phrase(phrase: Phrase, source: SourceText) -> dict[str, object]:
    target = None if phrase.target is None else location_of(phrase.target, source)
    return {"words": phrase.text, "depth": phrase.depth, **location_of(phrase.span, source), "refers_to": target}
