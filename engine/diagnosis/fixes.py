"""Quick fixes for findings: edits of the text, computed from the finding and the text alone.

A fix is offered only if the replacement is obvious; most findings have none, or their hint says what the author must
decide. Tests apply every kind of fix and compile again: the finding must be gone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from engine.diagnosis.targets.findings import TargetDiagnostic
from engine.notations import NOTATIONS
from engine.notations.editing import Edit
from engine.notations.gbnf.lexer import tokens
from engine.notations.gbnf.names import rule_names, rule_span
from engine.notations.json_schema.fixes import SCHEMA_FIXES
from engine.source import Diagnostic, Span, similar_words
from engine.source.catalogue import catalogue_text

_MOST_GUESSES: Final = 3
_CODE: Final = re.compile(r"`+(.+?)`+(?: |$|,)")
_HOLE: Final = "…"  # marks a form of which the author writes a part


@dataclass(frozen=True, slots=True)
class Fix:
    """One possible repair of a finding.

    Attributes:
        title: what it does, as a command.
        edits: the changes of the text.
        caret: the cursor position in the changed text, in code points; None for after the last edit.
    """

    title: str
    edits: tuple[Edit, ...]
    caret: int | None = None


Fixer: TypeAlias = Callable[[str, Diagnostic], Iterator[Fix]]


def fixes(text: str, finding: Diagnostic) -> tuple[Fix, ...]:
    """Return the fixes of a finding, the most likely first; none if the author must decide."""
    if finding.span.end > len(text):  # the finding is about another text
        return ()
    if isinstance(finding, TargetDiagnostic):
        rewrite = finding.finding.rewrite
        return () if rewrite is None else (Fix(rewrite.title, rewrite.edits),)
    fixer = FIXERS.get(finding.code)
    if fixer is not None:
        return tuple(fixer(text, finding))
    made = SCHEMA_FIXES.get(finding.code)
    return tuple(Fix(title, edits) for title, edits in made(text, finding.span)) if made is not None else ()


def _of(text: str, span: Span) -> str:
    return text[span.start : span.end]


def _replace(span: Span, new: str) -> Fix:
    return Fix(catalogue_text("fixes.replace", new=new), (Edit(span, new),))


def _insert(at: int, new: str, title: str = "") -> Fix:
    return Fix(title or catalogue_text("fixes.add", new=new), (Edit(Span(at, at), new),))


# --- any notation ----------------------------------------------------------------------------------------------------


def _as_the_hint_says(_text: str, finding: Diagnostic) -> Iterator[Fix]:
    """Yield the replacement that the hint quotes first."""
    found = _CODE.search(finding.hint)
    if found is not None and _HOLE not in found[1]:
        yield _replace(finding.span, found.group(1))


def _without_backslash(text: str, finding: Diagnostic) -> Iterator[Fix]:
    """Yield fixes for an invalid escape: its character alone, or an escaped backslash."""
    escape = _of(text, finding.span)
    if escape.startswith("\\") and len(escape) > 1:
        yield _replace(finding.span, escape[1:])
        yield Fix(catalogue_text("fixes.escape_backslash"), (Edit(finding.span, "\\" + escape),))


def _escape(text: str, finding: Diagnostic) -> Iterator[Fix]:
    """Yield the escape of a literal character."""
    yield _escaped(text, finding.span)


def _escaped(text: str, span: Span) -> Fix:
    title = catalogue_text("fixes.escape", character=_of(text, span))
    return Fix(title, (Edit(Span(span.start, span.start), "\\"),))


def _swap_range(text: str, finding: Diagnostic) -> Iterator[Fix]:
    ends = re.fullmatch(r"(\\.[^-]*|.)-(\\.+|.)", _of(text, finding.span), re.DOTALL)
    if ends is not None:
        yield _replace(finding.span, f"{ends[2]}-{ends[1]}")


def _swap_counts(text: str, finding: Diagnostic) -> Iterator[Fix]:
    counts = re.fullmatch(r"\{\s*(\d+)\s*,\s*(\d+)\s*\}(.?)", _of(text, finding.span))
    if counts is not None:
        yield _replace(finding.span, f"{{{counts[2]},{counts[1]}}}{counts[3]}")


def _repair_count(text: str, finding: Diagnostic) -> Iterator[Fix]:
    """Close a count that has no closing brace, with 0 for a missing minimum; or swap its bounds."""
    written = _of(text, finding.span)
    found = re.match(r"\{\s*(\d*)\s*(,?)\s*(\d*)", written)
    if found is None or "}" in written:
        yield from _swap_counts(text, finding)
        return
    least, comma, most = found.groups()
    if least or most:
        count_span = Span(finding.span.start, finding.span.start + len(found[0].rstrip()))
        yield _replace(count_span, f"{{{least or '0'}{comma}{most}}}")


# --- GBNF ------------------------------------------------------------------------------------------------------------


def _undefined_rule(text: str, finding: Diagnostic) -> Iterator[Fix]:
    name = _of(text, finding.span)
    defined = [known.text for known in rule_names(text) if known.definitions]
    for near in similar_words(name, defined, _MOST_GUESSES):
        yield _replace(finding.span, near)
    before = "" if text.endswith("\n") or not text else "\n"
    stub = f'{before}{name} ::= ""'
    caret = len(text) + len(stub) - 1
    title = catalogue_text("fixes.rule.define", name=name)
    yield Fix(title, (Edit(Span(len(text), len(text)), stub + "\n"),), caret)


def _no_root(text: str, _finding: Diagnostic) -> Iterator[Fix]:
    names = [name for name in rule_names(text) if name.definitions]
    first = next((name for name in names if name.text.lower() == "root"), names[0] if names else None)
    if first is None:
        if all(token.kind in {"blank", "line_end", "any", "sign", "other"} for token in tokens(text)):
            title = catalogue_text("fixes.rule.define", name="root")
            yield Fix(title, (Edit(Span(0, 0), 'root ::= ""'),), len('root ::= "'))
        return
    if first.text.lower() == "root":
        renaming = NOTATIONS["gbnf"].rename(text, first, "root")
        if not renaming.refusal:
            yield Fix(catalogue_text("fixes.rule.rename", name=first.text, new="root"), renaming.edits)
    yield _insert(0, f"root ::= {first.text}\n", catalogue_text("fixes.rule.begin", name=first.text))


def _no_definition(text: str, finding: Diagnostic) -> Iterator[Fix]:
    written = re.compile(r"(?::=|::|=>|->|=|:|←)").match(text, finding.span.start)
    if written is not None:
        yield _replace(Span(*written.span()), "::=")


def _quotes(text: str, finding: Diagnostic) -> Iterator[Fix]:
    """Yield the replacement of single quotes."""
    single = re.compile(r"'((?:[^'\\\n]|\\.)*)'").match(text, finding.span.start)
    if single is not None:
        inner = single[1].replace("\\'", "'").replace('"', '\\"')
        yield _replace(Span(*single.span()), f'"{inner}"')


def _close_group(text: str, finding: Diagnostic) -> Iterator[Fix]:
    start = max(
        (one.start for one in tokens(text) if one.kind == "defined" and one.start < finding.span.start), default=-1
    )
    if start >= 0:
        yield _insert(rule_span(text, Span(start, start)).end, ")")


def _close_line(closing: str) -> Fixer:
    def fixer(text: str, finding: Diagnostic) -> Iterator[Fix]:
        end = text.find("\n", finding.span.start)
        line = text[finding.span.start : len(text) if end < 0 else end].rstrip()
        yield _insert(finding.span.start + len(line), closing)

    return fixer


def _remove_rule(text: str, finding: Diagnostic) -> Iterator[Fix]:
    rule = rule_span(text, finding.span)
    end = rule.end + (text[rule.end : rule.end + 1] == "\n")
    title = catalogue_text("fixes.rule.remove", name=_of(text, finding.span))
    yield Fix(title, (Edit(Span(rule.start, end), ""),))


def _remove_this(text: str, finding: Diagnostic) -> Iterator[Fix]:
    title = catalogue_text("fixes.remove.code", code=_of(text, finding.span))
    yield Fix(title, (Edit(finding.span, ""),))


def _hyphens(text: str, _finding: Diagnostic) -> Iterator[Fix]:
    """Yield one fix for all names, since llama.cpp accepts none of them."""
    taken = {name.text for name in rule_names(text)}
    edits: list[Edit] = []
    for name in rule_names(text):
        new = name.text.replace("_", "-")
        if new != name.text and new not in taken:
            taken.add(new)
            edits += [Edit(span, new) for span in name.occurrences]
    if edits:
        yield Fix(catalogue_text("fixes.hyphens"), tuple(edits))


def _empty_class(_text: str, finding: Diagnostic) -> Iterator[Fix]:
    yield _replace(finding.span, ".")
    yield _replace(finding.span, '""')


def _line_end(text: str, finding: Diagnostic) -> Iterator[Fix]:
    written = _of(text, finding.span).replace("\r\n", "\\r\\n").replace("\n", "\\n").replace("\r", "\\r")
    yield Fix(catalogue_text("fixes.line_end"), (Edit(finding.span, written),))


# --- regular expressions ---------------------------------------------------------------------------------------------


def _at_the_end(closing: str) -> Fixer:
    def fixer(text: str, finding: Diagnostic) -> Iterator[Fix]:
        yield _insert(len(text), closing)
        yield _escaped(text, Span(finding.span.start, finding.span.start + 1))

    return fixer


def _unopened(text: str, finding: Diagnostic) -> Iterator[Fix]:
    yield from _escape(text, finding)
    yield from _remove_this(text, finding)


def _possessive(text: str, finding: Diagnostic) -> Iterator[Fix]:
    yield _replace(finding.span, _of(text, finding.span)[:-1])


def _atomic(_: str, finding: Diagnostic) -> Iterator[Fix]:
    yield _replace(finding.span, "(?:")


def _named_group(text: str, finding: Diagnostic) -> Iterator[Fix]:
    """Yield fixes that turn `(?<name>` into Python's `(?P<name>`, or the reverse."""
    opening = re.compile(r"\(\?(P?)<([^\W\d]\w*)>").match(text, finding.span.start)
    if opening is not None:
        yield _replace(Span(*opening.span()), f"(?{'' if opening[1] else 'P'}<{opening[2]}>")
        yield _replace(Span(*opening.span()), "(?:")


FIXERS: Final[Mapping[str, Fixer]] = {
    "gbnf-undefined-rule": _undefined_rule,
    "gbnf-no-root": _no_root,
    "gbnf-no-definition": _no_definition,
    "gbnf-unexpected": _quotes,
    "gbnf-unclosed-group": _close_group,
    "gbnf-unclosed-literal": _close_line('"'),
    "gbnf-unclosed-class": _close_line("]"),
    "gbnf-no-group": _remove_this,
    "gbnf-nothing-to-repeat": _remove_this,
    "gbnf-unreachable-rule": _remove_rule,
    "gbnf-duplicate-rule": _remove_rule,
    "gbnf-unknown-escape": _without_backslash,
    "gbnf-short-escape": _as_the_hint_says,
    "gbnf-empty-class": _empty_class,
    "gbnf-bad-range": _swap_range,
    "gbnf-bad-repetition": _repair_count,
    "gbnf-compat-name": _hyphens,
    "gbnf-line-inside": _line_end,
    "regex-unclosed-group": _at_the_end(")"),
    "regex-unclosed-class": _at_the_end("]"),
    "regex-unopened-group": _unopened,
    "regex-trailing-backslash": _escape,
    "regex-nothing-to-repeat": _unopened,
    "regex-lone-bracket": _escape,
    "regex-needless-escape": _as_the_hint_says,
    "regex-incomplete-escape": _as_the_hint_says,
    "regex-posix-class": _as_the_hint_says,
    "regex-letter-range": _as_the_hint_says,
    "regex-unicode-class": _as_the_hint_says,
    "regex-unicode-complement": _as_the_hint_says,
    "regex-bad-escape": _without_backslash,
    "regex-reversed-range": _swap_range,
    "regex-repeat-reversed": _swap_counts,
    "regex-atomic": _atomic,
    "regex-possessive": _possessive,
    "regex-unknown-group": _named_group,
}
