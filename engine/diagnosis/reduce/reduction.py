"""The reduction of a text that some program treats wrongly: a request, a schema, or a grammar in another notation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from engine.compile import CompileOptions, compile_grammar
from engine.diagnosis.reduce.grammar_text import reduce_grammar
from engine.diagnosis.reduce.json_text import reduce_json
from engine.notations import NOTATIONS
from engine.source import CancelToken, EngineError, GrammarError, LimitExceededError


@dataclass(frozen=True, slots=True)
class ReducedText:
    """A reduced text, and the part of the original that is guilty.

    Attributes:
        text: the smallest text found.
        pointer: the JSON Pointer of the guilty part of a request or schema; None in another notation.
        rule: the guilty rule of a grammar; None if the notation has no rules.
        tool: the name of the tool of a request that contains it; empty if none does.
        checks: the number of times the check ran.
    """

    text: str
    pointer: str | None
    rule: str | None
    tool: str
    checks: int


def reduce_text(
    text: str,
    notation: str,
    check: Callable[[str], bool],
    *,
    options: CompileOptions | None = None,
    most_checks: int | None = None,
    cancel: CancelToken | None = None,
) -> ReducedText:
    """Return a smallest text that still fails a check.

    If the text compiles, so must every candidate: a check that only looks for an error would otherwise be content with
    any broken text.

    Args:
        text: a text that fails.
        notation: the id of its notation; that of JSON Schema for a request, too.
        check: whether a text still fails. It must answer the same for the same text.
        options: the compile options.
        most_checks: the number of checks after which the smallest text so far is the result; None for no limit.
        cancel: cancels the reduction, and receives the number of checks as progress.

    Raises:
        EngineError: the check does not fail on the text itself.
        JsonTextError: the text should be JSON, and is not, or is nested deeper than 200 levels.
        CancelledError: `cancel` was used.
    """
    reduction = _Checked(notation, check, options or CompileOptions(), most_checks, cancel or CancelToken())
    if not reduction.check_original(text):
        raise EngineError("errors.diagnosis.check_does_not_fail")
    if NOTATIONS[notation].describes_json:
        json_text = reduce_json(text, reduction.fails)
        return ReducedText(json_text.text, json_text.pointer, None, json_text.tool, reduction.checks)
    grammar = reduce_grammar(notation, text, reduction.fails, options)
    rule = grammar.rule if NOTATIONS[notation].has_named_rules else None
    return ReducedText(grammar.text, None, rule, "", reduction.checks)


class _Checked:
    """A check with its memory: equal candidates are checked once."""

    def __init__(
        self,
        notation: str,
        check: Callable[[str], bool],
        options: CompileOptions,
        most_checks: int | None,
        cancel: CancelToken,
    ) -> None:
        self._notation, self._options = notation, options
        self._check, self._most_checks, self._cancel = check, most_checks, cancel
        self._known: dict[str, bool] = {}
        self._must_compile = False
        self.checks = 0

    def check_original(self, text: str) -> bool:
        """Return whether the original fails, and remember whether it compiles."""
        self._must_compile = self._compiles(text)
        return self.fails(text)

    def fails(self, text: str) -> bool:
        """Return whether a candidate fails; False once the most checks have run."""
        known = self._known.get(text)
        if known is None:
            self._cancel.check()
            if self._must_compile and not self._compiles(text):
                known = False
            elif self._most_checks is not None and self.checks >= self._most_checks:
                return False
            else:
                self.checks += 1
                self._cancel.report("progress.candidates", self.checks, self._most_checks)
                known = self._check(text)
            self._known[text] = known
        return known

    def _compiles(self, text: str) -> bool:
        try:
            compile_grammar(self._notation, text, self._options, cancel=self._cancel)
        except (GrammarError, LimitExceededError):
            return False
        return True
