"""The explanation of a grammar, for `turnstile explain --tree`."""

from __future__ import annotations

from engine.cli.output import location_of
from engine.compile import CompiledGrammar
from engine.diagnosis.explanation_tree import Description, Phrase
from engine.diagnosis.explanation_tree.describe import describe_grammar
from engine.source import CancelToken, SourceText


def described(grammar: CompiledGrammar, cancel: CancelToken, *, as_json: bool) -> dict[str, object] | list[str]:
    """Explain each part of a grammar's text."""
    with cancel.at_work():
        found = describe_grammar(grammar.notation, grammar.source, grammar.options)
    return _as_data(found, grammar.source) if as_json else list(found.lines())


def _as_data(found: Description, source: SourceText) -> dict[str, object]:
    return {"phrases": [_phrase(phrase, source) for phrase in found.phrases], "complete": found.is_whole}


def _phrase(phrase: Phrase, source: SourceText) -> dict[str, object]:
    target = None if phrase.target is None else location_of(phrase.target, source)
    return {"words": phrase.text, "depth": phrase.depth, **location_of(phrase.span, source), "refers_to": target}
