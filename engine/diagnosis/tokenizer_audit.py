"""Audit of a tokenizer and the files beside it: what makes masks, ends and special tokens go wrong.

Each finding has a stable code. Some need the folder of a model, since its files may disagree; some need a grammar,
since a special token written as a text is not that token.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby
from pathlib import Path
from typing import Final

from engine.compile import CompiledGrammar
from engine.grammar import Chars, CharSet, Grammar, Sequence
from engine.grammar.nodes import parts
from engine.source import SourceText, Span
from engine.source.catalogue import catalogue_text
from engine.vocabulary import Audit, Vocabulary, audit, visible
from engine.vocabulary.readers import EndIds, end_ids, logits_width, read_tokenizer

_MOST_LISTED: Final = 5
_SENTENCEPIECE: Final = "\N{LOWER ONE EIGHTH BLOCK}".encode()
_BYTE_LEVEL: Final = "Ġ".encode()


class AuditCode(StrEnum):
    """The code of a finding."""

    RAW_PIECES = "raw-pieces"  # tokens are spelled as in the tokenizer's file, not as bytes
    MISSING_BYTES = "missing-bytes"  # a byte is in no token by itself
    LOGITS_WIDTH = "logits-width"  # the model has another number of logits than the tokenizer has ids
    NO_END = "no-end"  # no id ends an output
    ENDS_DIFFER = "ends-differ"  # the files name different end ids
    END_UNKNOWN = "end-unknown"  # a file names an end id that the vocabulary does not treat as one
    SPECIAL_AS_TEXT = "special-as-text"  # the grammar writes the name of a special token as a text
    SPECIAL_HAS_SPELLING = "special-has-spelling"  # ordinary tokens spell the name of a special token


@dataclass(frozen=True, slots=True)
class AuditFinding:
    """A finding about a tokenizer.

    Attributes:
        code: its code.
        sentence: what was found.
        fix: what to do.
        ids: the token ids that it is about, at most five.
        span: the place in the grammar; None if it is not about one.
    """

    code: AuditCode
    sentence: str
    fix: str
    ids: tuple[int, ...] = ()
    span: Span | None = None

    @property
    def needs_change(self) -> bool:
        """Return whether it is a fault, not a property of most tokenizers."""
        return self.code is not AuditCode.SPECIAL_HAS_SPELLING


@dataclass(frozen=True, slots=True)
class TokenizerAudit:
    """The audit of a tokenizer.

    Attributes:
        vocabulary: the vocabulary.
        table: the findings about its table of tokens.
        ends: the end ids by file; empty if only the tokenizer is known.
        width: the number of logits of the model; None if unknown.
        findings: what may go wrong, the most likely first.
    """

    vocabulary: Vocabulary
    table: Audit
    ends: tuple[EndIds, ...]
    width: int | None
    findings: tuple[AuditFinding, ...]


def audit_tokenizer(
    source: Path | Vocabulary,
    *,
    files: Path | None = None,
    grammar: CompiledGrammar | None = None,
    width: int | None = None,
) -> TokenizerAudit:
    """Audit a tokenizer.

    Args:
        source: a file or folder of a tokenizer, whose neighbours are read too; or a vocabulary.
        files: the file or folder that the vocabulary was read from; None if it is unknown.
        grammar: a grammar that is used with it.
        width: the number of logits of the model, instead of that in its configuration.

    Raises:
        VocabularyError: a file is unknown or damaged.
    """
    ends: tuple[EndIds, ...] = ()
    path = source if isinstance(source, Path) else files
    if path is not None:
        table = read_tokenizer(path)
        tokenizer = Vocabulary(*table.columns(None, None))
        folder = path if path.is_dir() else path.parent
        ends = end_ids(folder, table)
        width = width or logits_width(folder)
    if isinstance(source, Vocabulary):
        vocabulary, size = source, source.size if path is None else tokenizer.size
    else:
        vocabulary, size = tokenizer, tokenizer.size
    found = audit(vocabulary)
    findings = [
        *_raw_pieces(vocabulary),
        *_missing_bytes(vocabulary, found),
        *_width(size, width),
        *_ends(vocabulary, ends),
        *_special_names(vocabulary, grammar),
    ]
    return TokenizerAudit(vocabulary, found, ends, width, tuple(findings))


def token_label(vocabulary: Vocabulary, index: int) -> str:
    """Return an id with the name or the text of its token."""
    name = vocabulary.special.get(index, "")
    if not name and 0 <= index < vocabulary.size:
        name = visible(vocabulary.tokens[index] or b"")
    return f"#{index} {name}".rstrip()


def table_line(found: TokenizerAudit) -> str:
    """Return the numbers of ids by kind, in one line."""
    vocabulary, table = found.vocabulary, found.table
    return catalogue_text(
        "diagnosis.tokenizer.table",
        size=vocabulary.size,
        with_bytes=table.n_with_bytes,
        special=len(vocabulary.special),
        holes=len(table.holes),
        duplicates=len(table.duplicates),
    )


def audit_lines(found: TokenizerAudit, grammar: SourceText | None) -> list[str]:
    """Return an audit as lines of plain text.

    Args:
        found: the audit.
        grammar: the text of the grammar, for the places of findings.
    """
    lines = [
        table_line(found),
        catalogue_text("diagnosis.tokenizer.ends", ends=_named(found.vocabulary, sorted(found.vocabulary.eos_ids))),
    ]
    lines += [f"  {each.place}: {_named(found.vocabulary, each.ids)}" for each in found.ends]
    for finding in found.findings:
        where = ""
        if finding.span is not None and grammar is not None:
            line, column = grammar.line_column(finding.span.start)
            where = f"{line}:{column}: "
        lines += [f"{where}{finding.code}: {finding.sentence}", f"  {finding.fix}"]
    return lines


def _finding(
    code: AuditCode, *, ids: Iterable[int] = (), span: Span | None = None, fix: str = "", **fields: object
) -> AuditFinding:
    name = code.replace("-", "_")
    return AuditFinding(
        code,
        catalogue_text(f"diagnosis.audit.{name}.sentence", **fields),
        fix or catalogue_text(f"diagnosis.audit.{name}.fix"),
        tuple(ids)[:_MOST_LISTED],
        span,
    )


def _raw_pieces(vocabulary: Vocabulary) -> Iterator[AuditFinding]:
    """Find a table whose tokens are the pieces of the tokenizer's file: no token holds a space."""
    tokens = [token for token in vocabulary.tokens if token is not None]
    if any(b" " in token for token in tokens):
        return
    for mark in (_SENTENCEPIECE, _BYTE_LEVEL):
        ids = [index for index, token in enumerate(vocabulary.tokens) if token is not None and mark in token]
        if ids:
            yield _finding(AuditCode.RAW_PIECES, ids=ids, total=len(tokens), count=len(ids), mark=mark.decode())
            return


def _missing_bytes(vocabulary: Vocabulary, found: Audit) -> Iterator[AuditFinding]:
    within = {byte for token in vocabulary.tokens if token is not None for byte in token}
    ascii_missing = [byte for byte in range(0x20, 0x7F) if byte not in within]
    if ascii_missing and found.n_with_bytes:
        listed = " ".join(visible(bytes((byte,))) for byte in ascii_missing[: 2 * _MOST_LISTED])
        yield _finding(AuditCode.MISSING_BYTES, count=len(ascii_missing), bytes=listed)


def _width(size: int, width: int | None) -> Iterator[AuditFinding]:
    if width is not None and width != size:
        yield _finding(
            AuditCode.LOGITS_WIDTH,
            fix=catalogue_text(f"diagnosis.audit.logits_width.{'pad' if width > size else 'cut'}"),
            width=width,
            size=size,
            difference=abs(width - size),
        )


def _ends(vocabulary: Vocabulary, ends: tuple[EndIds, ...]) -> Iterator[AuditFinding]:
    known = vocabulary.eos_ids
    if not known:
        yield _finding(AuditCode.NO_END)
    unknown = sorted({index for each in ends for index in each.ids} - known)
    if unknown:
        files = ", ".join(sorted({each.file for each in ends if set(each.ids) & set(unknown)}))
        yield _finding(AuditCode.END_UNKNOWN, ids=unknown, tokens=_named(vocabulary, unknown), files=files)
    if len({each.ids for each in ends}) > 1:
        listed = "; ".join(f"{each.file}: {_named(vocabulary, each.ids)}" for each in ends)
        yield _finding(AuditCode.ENDS_DIFFER, ids=sorted(known), listed=listed)


def _named(vocabulary: Vocabulary, ids: Iterable[int]) -> str:
    """Return ids with the names of their tokens."""
    return ", ".join(token_label(vocabulary, index) for index in ids)


def _special_names(vocabulary: Vocabulary, grammar: CompiledGrammar | None) -> Iterator[AuditFinding]:
    """Find special tokens whose name the grammar writes as a text, and those that ordinary tokens can spell."""
    by_name = {name: index for index, name in vocabulary.special.items() if name}
    if grammar is not None and grammar.grammar is not None:
        for name, span in sorted(_literals(grammar.grammar), key=_start):
            for special, index in by_name.items():
                if len(special) > 1 and special in name:
                    yield _finding(
                        AuditCode.SPECIAL_AS_TEXT,
                        ids=(index,),
                        span=span,
                        fix=_special_fix(grammar, special, index),
                        name=special,
                        id=index,
                    )
    data = {token for token in vocabulary.tokens if token}
    spelled = [
        index
        for name, index in by_name.items()
        if all(bytes((byte,)) in data for byte in name.encode("utf-8", "surrogatepass"))
    ]
    if spelled:
        yield _finding(
            AuditCode.SPECIAL_HAS_SPELLING,
            ids=spelled,
            count=len(spelled),
            tokens=_named(vocabulary, spelled[:_MOST_LISTED]),
        )


def _special_fix(grammar: CompiledGrammar, name: str, token_id: int) -> str:
    """Return how the notation of a grammar names a special token."""
    if not grammar.has_named_rules:
        return catalogue_text("diagnosis.audit.special_as_text.text")
    element = name if name.startswith("<") and name.endswith(">") else f"<[{token_id}]>"
    return catalogue_text("diagnosis.audit.special_as_text.element", element=element)


def _literals(grammar: Grammar) -> Iterator[tuple[str, Span]]:
    """Yield the texts of a grammar, as runs of single characters, with their spans."""
    for rule in grammar.rules:
        for node in parts(rule.node):
            if isinstance(node, Sequence):
                yield from _runs(node)


def _start(literal: tuple[str, Span]) -> int:
    return literal[1].start


def _runs(sequence: Sequence) -> Iterator[tuple[str, Span]]:
    for is_text, items in groupby(sequence.items, lambda item: isinstance(item, Chars) and _is_single(item.set)):
        if is_text:
            run = [item for item in items if isinstance(item, Chars)]
            text = "".join(chr(item.set.ranges[0][0]) for item in run)
            yield text, Span(run[0].span.start, run[-1].span.end)


def _is_single(characters: CharSet) -> bool:
    return len(characters.ranges) == 1 and characters.ranges[0][0] == characters.ranges[0][1]
