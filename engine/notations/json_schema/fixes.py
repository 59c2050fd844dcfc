"""Quick fixes for a JSON Schema's text: a title and edits, by the code of the finding that they repair."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Final, TypeAlias

from engine.notations.editing.edits import Edit
from engine.notations.json_schema.outline import Outline, OutlinePart
from engine.notations.json_schema.reference import FORMATS, KEYWORDS, TYPES
from engine.notations.json_schema.targets import REFERENCES, SchemaTargets, decoded_step, key_span, quoted
from engine.source import Span, similar_words
from engine.source.catalogue import catalogue_text

Repair: TypeAlias = tuple[str, tuple[Edit, ...]]
Repairer: TypeAlias = Callable[[str, Span], Iterator[Repair]]

_MOST: Final = 3
_LONGEST_TITLE: Final = 40
_STRING: Final = re.compile(r"'((?:[^'\\\n]|\\.)*)'")
_WORD: Final = re.compile(r"[A-Za-z_$][\w$-]*")
_PYTHON: Final = {"True": "true", "False": "false", "None": "null"}
_COMMENT: Final = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)


def _part(text: str, span: Span) -> OutlinePart | None:
    root = _outline(text).root
    return next((part for part in root.walk() if part.span == span), None) if root is not None else None


@lru_cache(maxsize=2)  # called for each finding of a text
def _outline(text: str) -> Outline:
    return Outline(text)


def _replaced(span: Span, new: str) -> Repair:
    shown = new.strip('"')  # the title has its own quotation marks
    return catalogue_text("fixes.replace", new=shown), (Edit(span, new),)


def without_member(text: str, key: Span, value: Span) -> Edit:
    """Return the edit that removes a member from its object, with one adjacent comma.

    Args:
        text: the schema's text.
        key: the span of the key.
        value: the span of the value.
    """
    behind = re.compile(r"\s*,[ \t]*\n?[ \t]*").match(text, value.end)
    if behind is not None:
        return Edit(Span(key.start, behind.end()), "")
    before = re.compile(r",\s*\Z").search(text, 0, key.start)
    return Edit(Span(before.start() if before else key.start, value.end), "")


def _remove_keyword(text: str, span: Span) -> Iterator[Repair]:
    part = _part(text, span)
    while part is not None and (part.holder is None or not part.holder.is_object):
        part = part.holder
    if part is not None:
        key = key_span(part)
        yield catalogue_text("fixes.remove.keyword", name=part.name), (without_member(text, key, part.span),)


def _near_strings(known: Iterable[str]) -> Repairer:
    def repair(text: str, span: Span) -> Iterator[Repair]:
        part = _part(text, span)
        strings = [part] if part is not None and not part.is_array else part.items if part is not None else []
        names = list(known)
        for string in strings:
            if string.text is not None and string.text not in names:
                for near in similar_words(string.text.lower(), names, _MOST):
                    yield _replaced(string.span, quoted(near))
                return

    return repair


def _unknown_format(text: str, span: Span) -> Iterator[Repair]:
    yield from _near_strings(FORMATS)(text, span)
    yield from _remove_keyword(text, span)


def _misspelled(text: str, span: Span) -> Iterator[Repair]:
    known = [name for group in KEYWORDS.values() for name in group]
    written = text[span.start : span.end].strip('"')
    for near in similar_words(written, known, _MOST):
        yield _replaced(span, quoted(near))


def _unknown_keyword(text: str, span: Span) -> Iterator[Repair]:
    yield from _misspelled(text, span)
    name = _shortened(text[span.start : span.end].strip('"'))
    yield catalogue_text("fixes.remove.keyword", name=name), (_without_key(text, span),)


def _shortened(text: str) -> str:
    return text if len(text) <= _LONGEST_TITLE else text[:_LONGEST_TITLE] + "…"


def _unresolved(text: str, span: Span) -> Iterator[Repair]:
    outline = _outline(text)
    part = _part(text, span)
    if part is None or part.text is None or part.holder is None or outline.root is None:
        return
    if part.name not in REFERENCES:
        return
    # Compare only the last step: the path before it is the same for all.
    targets = {
        re.split("[/#]", target)[-1]: target for target in SchemaTargets(outline).targets(part.holder) if target != "#"
    }
    for near in similar_words(re.split("[/#]", part.text)[-1], targets, _MOST):
        yield _replaced(span, quoted(targets[near]))
    wanted = re.fullmatch(r"#/(\$defs|definitions)/([^/]+)", part.text)
    if wanted is None:
        return
    name = decoded_step(wanted[2])
    title = catalogue_text("fixes.definition.add", name=name, keyword=wanted[1])
    holder = outline.root.members.get(wanted[1])
    entry = f"{quoted(name)}: {{}}"
    if holder is None and outline.root.is_object and text[outline.root.span.end - 1] == "}":
        yield title, (_appended(text, outline.root, f'"{wanted[1]}": {{{entry}}}'),)
    elif holder is not None and holder.is_object and text[holder.span.end - 1] == "}":
        yield title, (_appended(text, holder, entry),)


def _appended(text: str, holder: OutlinePart, entry: str) -> Edit:
    """Return the edit that appends a member to an object, on a new line if the others have one."""
    end = holder.span.end - 1
    inner = text[holder.span.start + 1 : end]
    kept = len(inner.rstrip())
    at = holder.span.start + 1 + kept
    if not inner.strip():
        return Edit(Span(at, at), entry)
    lead = re.match(r"\s*", inner)
    space = lead.group() if lead is not None and "\n" in lead.group() else " "
    return Edit(Span(at, at), f",{space}{entry}")


def _doubled(text: str, span: Span) -> Iterator[Repair]:
    """Yield fixes for a duplicate key; the last occurrence counts."""
    root = _outline(text).root
    for part in root.walk() if root is not None else ():
        for name, earlier in part.earlier:
            if part.keys[name] == span:
                yield catalogue_text("fixes.remove.earlier"), (_without_key(text, earlier),)
    yield catalogue_text("fixes.remove.later"), (_without_key(text, span),)


def _without_key(text: str, key: Span) -> Edit:
    colon = re.compile(r"\s*:\s*").match(text, key.end)
    start = colon.end() if colon is not None else key.end
    return without_member(text, key, Span(start, _value_end(text, start)))


def _value_end(text: str, start: int) -> int:
    """Return the end of the value that begins at an offset."""
    root = Outline(text[start:]).root
    return start + (root.span.end if root is not None else 0)


def _no_json(text: str, span: Span) -> Iterator[Repair]:
    """Yield fixes for common habits from JavaScript and Python."""
    at = span.start
    comma = re.compile(r",\s*\Z").search(text, 0, at)
    following = text[at : at + 1]
    comment = _COMMENT.match(text, at)
    string = _STRING.match(text, at)
    word = _WORD.match(text, at)
    if _is_json(text[:at]):
        yield catalogue_text("fixes.remove.text_after"), (Edit(Span(len(text[:at].rstrip()), len(text)), ""),)
    elif comment is None and not text[:at].strip() and (found := _object_after(text, at)) is not None:
        lead = Edit(Span(at, found.start), "")
        if text[found.end :].strip():
            yield catalogue_text("fixes.remove.text_around"), (lead, Edit(Span(found.end, len(text)), ""))
        else:
            yield catalogue_text("fixes.remove.text_before"), (lead,)
    elif comment is not None:
        yield catalogue_text("fixes.remove.comment"), (Edit(Span(*comment.span()), ""),)
    elif following in {"}", "]"} and comma is not None:
        yield catalogue_text("fixes.remove.comma"), (Edit(Span(comma.start(), comma.start() + 1), ""),)
    elif string is not None:
        inner = string[1].replace("\\'", "'").replace('"', '\\"')
        yield _replaced(Span(*string.span()), f'"{inner}"')
    elif word is not None and word.group() in _PYTHON:
        yield _replaced(Span(*word.span()), _PYTHON[word.group()])
    elif word is not None and text[:at].strip():  # a string is not a schema
        yield _replaced(Span(*word.span()), f'"{word.group()}"')
    elif following in {'"', "{", "["}:
        before = len(text[:at].rstrip())
        mark = ":" if re.search(r"[{,]\s*\"(?:[^\"\\\n]|\\.)*\"\s*\Z", text[:at]) else ","
        yield catalogue_text(f"fixes.add_{'colon' if mark == ':' else 'comma'}"), (Edit(Span(before, before), mark),)
    elif at >= len(text) and (missing := _missing(text)):
        yield catalogue_text("fixes.add", new=missing), (Edit(Span(len(text.rstrip()), len(text.rstrip())), missing),)


def _is_json(text: str) -> bool:
    """Return whether a text is one complete JSON value, so that nothing may follow it."""
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _object_after(text: str, at: int) -> Span | None:
    """Return the first JSON object after some prose; None if the first `{` does not begin one."""
    begin = text.find("{", at + 1)
    try:
        return Span(begin, json.JSONDecoder().raw_decode(text, begin)[1]) if begin >= 0 else None
    except (ValueError, RecursionError):
        return None


def _missing(text: str) -> str:
    """Return the closing brackets that a text lacks, innermost first; empty if it ends inside another token."""
    if text.rstrip()[-1:] in {",", ":", ""}:
        return ""
    opened: list[str] = []
    for token in re.finditer(r"\"(?:[^\"\\\n]|\\.)*\"?|[{}\[\]]", text):
        mark = token.group()
        if mark in "{[":
            opened.append("}" if mark == "{" else "]")
        elif mark in "}]" and opened:
            opened.pop()
    return "".join(reversed(opened))


SCHEMA_FIXES: Final[Mapping[str, Repairer]] = {
    "schema-unknown-type": _near_strings(TYPES),
    "schema-unknown-format": _unknown_format,
    "schema-misspelled-keyword": _misspelled,
    "schema-unknown-keyword": _unknown_keyword,
    "schema-later-keyword": _remove_keyword,
    "schema-former-keyword": _remove_keyword,
    "schema-beside-reference": _remove_keyword,
    "schema-not-enforced": _remove_keyword,
    "schema-invalid-keyword": _remove_keyword,
    "schema-pattern": _remove_keyword,
    "schema-remote-reference": _remove_keyword,
    "schema-unresolved-reference": _unresolved,
    "schema-doubled-key": _doubled,
    "schema-no-json": _no_json,
}
