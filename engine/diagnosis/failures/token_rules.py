"""The rules about tokens, their text, and characters: what a tokenizer or a decoder wrote otherwise."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from itertools import groupby
from typing import Final

from engine.diagnosis.case import RequestConstraint
from engine.diagnosis.failures.diagnosis import Cause, EvidenceWeight, FailurePlace
from engine.diagnosis.failures.examination import Examination
from engine.diagnosis.failures.rules import CauseRule, Finding, fix_text, output_place, shown, where_in_output
from engine.diagnosis.verdicts.tokenisation import divergence, tokenizer_ids
from engine.notations import NOTATIONS
from engine.notations.lexing import TokenKind, lex
from engine.source import EngineError
from engine.source.catalogue import catalogue_text
from engine.source.json_scanner import is_in_character
from engine.source.text import quoted
from engine.vocabulary import Vocabulary

SPECIAL_TEXT: Final = re.compile(
    r"<\|[^|<>\s]{1,40}\|>|<｜[^｜<>]{1,40}｜>|</?s>|<(?:eos|bos|pad|unk)>|<(?:start|end)_of_(?:turn|text)>"
    r"|<unused\d+>|<0x[0-9A-F]{2}>|\[/?INST\]|</?(?:think|tool_call|tool_response)>"
)
"""Names of special tokens in common vocabularies."""
_THOUGHT_MARKS: Final = ("think>", "tool_call>", "tool_response>")
_LITERAL: Final = frozenset((TokenKind.LITERAL, TokenKind.ESCAPE))
_RAW_PIECES: Final = {"\u2581": " ", "\u0120": " ", "\u010a": "\n", "\u0109": "\t"}
_MANY_PIECES: Final = 100
_LAST_BYTE: Final = r"\xff"


def _special_token_text(examined: Examination) -> Finding | None:
    if examined.part is None:
        return _quoted_special_token(examined)
    if not examined.is_illegal:
        return None
    rest = examined.data[examined.legal :].decode("utf-8", "replace")
    at = examined.offset_of(examined.legal)
    match = SPECIAL_TEXT.match(rest.lstrip())
    if match is None:  # the first characters of the name may be legal
        match = next((one for one in SPECIAL_TEXT.finditer(examined.text) if one.start() <= at < one.end()), None)
        at = at if match is None else match.start()
    if match is None or (match[0].endswith(_THOUGHT_MARKS) and examined.thought_end is not None):
        return None
    name = match[0]
    where = where_in_output(examined, examined.byte_of(at))
    key = "end" if examined.is_accepting and examined.legal else "inside"
    sentence = catalogue_text(f"failures.sentence.special-token-text.{key}", name=quoted(name), where=where)
    return Finding(
        Cause.SPECIAL_TOKEN_TEXT,
        sentence,
        name,
        evidence=(examined.verdict_sentence,),
        places=(output_place(examined, examined.byte_of(at)),),
        explains=frozenset((Cause.EOS_REFUSED, Cause.CONSTRAINT_OFF, Cause.WRONG_ZONE, Cause.SCHEMA_VIOLATION)),
    )


def _quoted_special_token(examined: Examination) -> Finding | None:
    """Find a special token that a grammar has as text in quotes."""
    grammar, constraint = examined.grammar, examined.constraint
    if grammar is None or constraint is None or not grammar.has_named_rules:
        return None
    found = next(_special_literals(constraint), None)
    if found is None:
        return None
    name, offset = found
    line, column = grammar.source.line_column(offset)
    sentence = catalogue_text(
        "failures.sentence.special-token-text.grammar", name=quoted(name), line=line, count=len(name)
    )
    place = FailurePlace(line=line, column=column, offset=offset)
    fix = catalogue_text("failures.fix.special-token-text.grammar", name=quoted(name))
    return Finding(Cause.SPECIAL_TOKEN_TEXT, sentence, name, fix=fix, places=(place,))


def _special_literals(constraint: RequestConstraint) -> Iterator[tuple[str, int]]:
    """Yield the names of special tokens in the literals of a grammar, and where each literal begins."""
    tokens = lex(constraint.text, NOTATIONS[constraint.notation].lex_line)
    for is_literal, parts in groupby(tokens, key=lambda token: token.kind in _LITERAL):
        literal = tuple(parts) if is_literal else ()
        for part in literal:
            match = SPECIAL_TEXT.search(constraint.text, part.start, part.end)
            if match is not None and part.kind is TokenKind.LITERAL:
                yield match[0], literal[0].start


def _tokenizer_mismatch(examined: Examination) -> Finding | None:
    source, ids = examined.tokens_from, examined.case.ids
    if source is not None and ids:
        unknown = next((one for one in ids if not 0 <= one < source.vocabulary.size), None)
        if unknown is not None:
            sentence = catalogue_text("failures.sentence.tokenizer-mismatch.id", id=unknown)
            return Finding(Cause.TOKENIZER_MISMATCH, sentence, "id", weight=EvidenceWeight.REPORTED)
    if source is not None and not ids and (raw := _raw_pieces(source.vocabulary)):
        sentence = catalogue_text("failures.sentence.tokenizer-mismatch.pieces", count=raw)
        return Finding(Cause.TOKENIZER_MISMATCH, sentence, "pieces", weight=EvidenceWeight.REPORTED)
    if not examined.is_illegal:
        return None
    rest = examined.text[examined.offset_of(examined.legal) :]
    if not rest or rest[0] not in _RAW_PIECES:
        return None
    decoded = examined.text
    for mark, text in _RAW_PIECES.items():
        decoded = decoded.replace(mark, text)
    data = decoded.encode("utf-8", "surrogateescape")
    if examined.reach(data) <= examined.legal and examined.reach(data.lstrip()) < len(data.lstrip()):
        return None
    where = where_in_output(examined, examined.legal)
    sentence = catalogue_text(
        "failures.sentence.tokenizer-mismatch.piece", text=quoted(rest[0]), code=ord(rest[0]), where=where
    )
    return Finding(
        Cause.TOKENIZER_MISMATCH,
        sentence,
        rest[0],
        places=(output_place(examined, examined.legal),),
        explains=frozenset((Cause.CONSTRAINT_OFF, Cause.SCHEMA_VIOLATION, Cause.WRONG_ZONE, Cause.TOKEN_BOUNDARY)),
    )


def _raw_pieces(vocabulary: Vocabulary) -> int:
    """Return the number of tokens with a raw `▁`, if no token has a space."""
    mark, count = "\u2581".encode(), 0
    for token_id in range(vocabulary.size):
        token = vocabulary.token_bytes(token_id) or b""
        if b" " in token:
            return 0
        count += mark in token
    return count if count >= _MANY_PIECES else 0


def _token_boundary(examined: Examination) -> Finding | None:
    data = examined.data
    if examined.is_illegal and data[:1] == b" " and not examined.legal:
        answer = data[1:]
        if answer and not answer.startswith(b" ") and examined.reach(answer) == len(answer):
            return Finding(
                Cause.TOKEN_BOUNDARY,
                catalogue_text("failures.sentence.token-boundary.space", text=shown(data)),
                "leading-space",
                fix=fix_text(Cause.TOKEN_BOUNDARY, "leading-space", examined.server),
                evidence=tuple(_joined_token(examined, answer)),
                places=(output_place(examined, 0),),
                explains=frozenset((Cause.CONSTRAINT_OFF, Cause.WRONG_ZONE)),
            )
    return _another_encoding(examined)


def _joined_token(examined: Examination, answer: bytes) -> Iterator[str]:
    """Yield that the first token has the space and the answer in it, by the probabilities of the response."""
    part, scores = examined.part, examined.case.scores
    if part is None or part.start or not scores or not scores[0].data.startswith(b" ") or len(scores[0].data) < 2:
        return
    first = scores[0]
    yield catalogue_text("failures.evidence.joined_token", token=shown(first.data))
    bare = next((one.logprob for one in first.alternatives if answer.startswith(one.data) and one.data), None)
    if bare is not None and first.logprob is not None:
        yield catalogue_text(
            "failures.evidence.bare_token",
            p=f"{math.exp(first.logprob):.2g}",
            bare_p=f"{math.exp(bare):.2g}",
        )


def _another_encoding(examined: Examination) -> Finding | None:
    """Find token ids that the tokenizer would not have chosen for their text."""
    source, tokens = examined.tokens_from, examined.tokens
    if source is None or tokens is None or not examined.case.ids or examined.is_illegal or tokens.foreign is not None:
        return None
    try:
        own = tokenizer_ids(tokens.data, source.vocabulary, source.encode)
    except EngineError:
        return None
    differs = None if own is None else divergence(tokens, own, source.vocabulary)
    if differs is None:
        return None
    sentence = catalogue_text(
        "failures.sentence.token-boundary.ids",
        number=differs.token + 1,
        given=shown(differs.given),
        own=shown(differs.own),
    )
    return Finding(Cause.TOKEN_BOUNDARY, sentence, "ids", places=(output_place(examined, differs.byte),))


def _encoding(examined: Examination) -> Finding | None:
    if examined.part is None:
        return None
    data, legal = examined.data, examined.legal
    if data.startswith(b"\xef\xbb\xbf") and not legal:
        return _encoding_finding(examined, "byte-order-mark", 0)
    if not examined.is_illegal:
        if examined.is_prefix and not examined.is_complete and data.endswith("\ufffd".encode()):
            return _encoding_finding(examined, "replacement", len(data) - 3)
        return None
    at = examined.offset_of(legal)
    character = examined.text[at : at + 1]
    constraint = examined.constraint
    if (
        character > "\xff"
        and constraint is not None
        and not examined.is_json
        and (wide := next(_byte_classes(constraint), None)) is not None
    ):
        return _encoding_finding(examined, "byte-class", legal, text=quoted(wide), character=quoted(character))
    if "\udc80" <= character <= "\udcff" and not is_in_character(data):
        return _encoding_finding(examined, "invalid", legal)
    if character == "\ufffd":
        return _encoding_finding(examined, "replacement", legal)
    return _decoded_twice(examined)


def _byte_classes(constraint: RequestConstraint) -> Iterator[str]:
    """Yield the character classes of a grammar that end with `\\xff`, as if they were about bytes."""
    text = constraint.text
    start, last = None, ""
    for token in lex(text, NOTATIONS[constraint.notation].lex_line):
        if token.kind is TokenKind.CLASS and token.nesting > 0:
            start = token.start
        elif token.kind is TokenKind.CLASS and token.nesting < 0:
            if start is not None and last == _LAST_BYTE:
                yield text[start : token.end]
            start = None
        last = text[token.start : token.end].lower()


def _decoded_twice(examined: Examination) -> Finding | None:
    """Find UTF-8 that was decoded as Latin-1 or code page 1252."""
    for name in ("cp1252", "latin-1"):
        try:
            data = examined.text.encode(name)
            data.decode("utf-8")
        except UnicodeError:
            continue
        if data != examined.data and examined.reach(data) == len(data):
            return _encoding_finding(examined, "decoded-twice", examined.legal)
    return None


def _encoding_finding(examined: Examination, detail: str, byte: int, **fields: object) -> Finding:
    where = where_in_output(examined, byte)
    sentence = catalogue_text(f"failures.sentence.encoding.{detail}", where=where, **fields)
    return Finding(
        Cause.ENCODING,
        sentence,
        detail,
        fix=fix_text(Cause.ENCODING, detail, examined.server),
        places=(output_place(examined, byte),),
        explains=frozenset((Cause.CONSTRAINT_OFF, Cause.SCHEMA_VIOLATION, Cause.WRONG_ZONE, Cause.CUT_OFF)),
    )


SPECIAL_TOKEN_TEXT: Final = CauseRule(Cause.SPECIAL_TOKEN_TEXT, _special_token_text)
TOKENIZER_MISMATCH: Final = CauseRule(Cause.TOKENIZER_MISMATCH, _tokenizer_mismatch)
TOKEN_BOUNDARY: Final = CauseRule(Cause.TOKEN_BOUNDARY, _token_boundary)
ENCODING: Final = CauseRule(Cause.ENCODING, _encoding)
