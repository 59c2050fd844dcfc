"""Zone settings compiled to one grammar of the complete output."""

from __future__ import annotations

import re

from engine.compile import CompiledGrammar, compile_grammar
from engine.decoding.constraints.zones import Zone, zoned
from engine.decoding.errors import ZoneError
from engine.decoding.pipeline_settings import OtherZone, ZoneSettings
from engine.source import CancelToken, GrammarError, Severity
from engine.vocabulary import Vocabulary


class ZoneGrammars:
    """The compiled grammars of the zones after the first; each is compiled once.

    Args:
        settings: the settings of all zones.
        cancel: cancels a compilation.

    Raises:
        ZoneError: a zone's grammar does not compile, or no text matches it.
    """

    def __init__(self, settings: ZoneSettings, cancel: CancelToken | None = None) -> None:
        self._settings = settings
        self._others = [_zone(number, zone, cancel) for number, zone in enumerate(settings.others, 2)]

    def around(self, grammar: CompiledGrammar, vocabulary: Vocabulary) -> CompiledGrammar:
        """Return the language of outputs in which `grammar` constrains the first zone.

        Args:
            grammar: the grammar of the first zone.
            vocabulary: the vocabulary that resolves trigger tokens.

        Raises:
            VocabularyError: a zone waits for a token that the vocabulary does not have.
        """
        settings = self._settings
        first = Zone(grammar, settings.after, settings.after_token, settings.until)
        return zoned([first, *self._others], vocabulary, settings.then, required=settings.required)


def _zone(number: int, zone: OtherZone, cancel: CancelToken | None) -> Zone:
    if not zone.notation:
        return Zone(_free_until(zone.until), zone.after, zone.after_token)
    try:
        grammar = compile_grammar(zone.notation, zone.text, cancel=cancel)
    except GrammarError as error:
        first = next(diagnostic for diagnostic in error.diagnostics if diagnostic.severity is Severity.ERROR)
        line, column = error.source.line_column(first.span.start)
        hint = f" ({first.hint})" if first.hint else ""
        raise ZoneError(number, f"does not compile: line {line}, column {column}: {first.message}{hint}") from error
    if grammar.is_empty:
        raise ZoneError(number, "matches no text")
    return Zone(grammar, zone.after, zone.after_token, zone.until)


def _free_until(closing: str) -> CompiledGrammar:
    """Compile "any text up to the first closing text, inclusive".

    A separate closing text could match a later occurrence, so it is part of the grammar.
    """
    literal = re.escape(closing)
    return compile_grammar("regex", rf"(?s)(?:(?!{literal}).)*{literal}")
