"""JSON for any engine: the token index, or the tables of the rules.

A grammar without a stack becomes `state → token → next state` (`engine.export.tables.token_index`). A grammar whose
rules nest has no such table, so it becomes an automaton for each rule (`engine.export.tables.rule_tables`), with the
vocabulary's tokens if given: the guide of the `python` target runs that file. So does a JSON Schema without a
vocabulary, or one whose index is too large.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.automata.byte_classes import ByteRanges, join_ranges
from engine.compile import CompiledGrammar
from engine.export.checks import CompiledRecogniser, IndexRecogniser, scope_of, walk_side_by_side, walk_tokens
from engine.export.runtimes.guide import Guide
from engine.export.runtimes.guide.pushdown import DEAD, Pushdown
from engine.export.tables.finite import index_refusal, token_index
from engine.export.tables.rule_tables import as_text, tables_document, tables_of
from engine.export.tables.token_index import FORMAT, TokenIndex, index_document
from engine.export.target import (
    Artifact,
    Check,
    ExportJob,
    MismatchError,
    NotExportableError,
    OptionName,
    TargetGroup,
    TargetTexts,
)
from engine.export.text.plain_grammar import spelled
from engine.source import LimitExceededError
from engine.source.catalogue import catalogue_text
from engine.vocabulary import Vocabulary


def _row_size(ids: NDArray[np.int32], targets: NDArray[np.int32]) -> int:
    """Return the bytes of a row: each transition is `"id":target,`."""
    return sum(len(f'"{token}":{target},') for token, target in zip(ids.tolist(), targets.tolist(), strict=True))


class JsonTarget(TargetTexts):
    """The JSON target; see `Target`."""

    name = "json"
    group = TargetGroup.ELSEWHERE
    suffix = ".json"
    is_folder = False
    needs_vocabulary = False

    def supported_options(self, compiled: CompiledGrammar) -> frozenset[OptionName]:
        """Return the supported options; see `Target`."""
        return spelled(compiled)

    def refusal(self, job: ExportJob) -> str:
        """Return why a grammar does not fit; see `Target`."""
        return index_refusal(job.compiled, job.vocabulary, job.options) if job.compiled.is_regular else ""

    def make(self, job: ExportJob) -> Artifact:
        """Make the artifact; see `Target`."""
        heeded = self.supported_options(job.compiled)
        if job.compiled.is_regular:  # a regular grammar always becomes an index
            return self._index(job)
        if heeded and job.vocabulary is not None:
            try:
                return self._index(job)
            except (NotExportableError, LimitExceededError):
                pass  # it has no index, or one that is too large
        tables = tables_of(job.compiled, job.options.spelling if heeded else None, job.cancel)
        return Artifact((("grammar.json", as_text(tables_document(job, tables, *heeded))),), tables.notes)

    def _index(self, job: ExportJob) -> Artifact:
        def content(index: TokenIndex, notes: tuple[str, ...]) -> bytes:
            return as_text(index_document(index, job, notes, self.supported_options(job.compiled)))

        index, notes = token_index(job, _row_size, content)
        return Artifact((("grammar.json", content(index, notes)),), notes)

    def check(self, artifact: Artifact, job: ExportJob) -> Check:
        """Check the artifact; see `Target`."""
        document = json.loads(artifact.content)
        fewer = bool(document["notes"])
        if document["format"] == FORMAT:
            compared = catalogue_text("export.compared.fragment.index")
            recogniser = index_recogniser(document, job.need_vocabulary())
            return Check(compared, *walk_tokens(job, recogniser, holds_fewer=fewer))
        if job.vocabulary is not None:
            compared = catalogue_text("export.compared.fragment.tables")
            return Check(compared, *walk_tokens(job, Guide(document), holds_fewer=fewer))
        engine, export = CompiledRecogniser(job.compiled), TablesRecogniser(document)
        walks, steps = walk_side_by_side(job, engine, export, holds_fewer=fewer)
        return Check(catalogue_text("export.compared.fragment.rule_tables"), walks, steps, scope_of(job.compiled))


def index_recogniser(document: dict[str, Any], vocabulary: Vocabulary) -> IndexRecogniser:
    """Return the index of a file that was read back.

    Raises:
        MismatchError: it belongs to another vocabulary, or is no index.
    """
    if document["vocabulary"]["fingerprint"] != vocabulary.fingerprint:
        raise MismatchError("errors.export.json.other_vocabulary")
    rows = [document["transitions"][str(state)] for state in range(len(document["transitions"]))]
    return IndexRecogniser(
        document["start"],
        document["accepting"],
        np.concatenate(([0], np.cumsum([len(row) for row in rows], dtype=np.int64))).astype(np.int64),
        np.array([int(token) for row in rows for token in row], np.int32),
        np.array([target for row in rows for target in row.values()], np.int32),
        vocabulary,
    )


class TablesRecogniser:
    """The tables of a file that was read back, as a `Recogniser` over bytes."""

    def __init__(self, document: dict[str, Any]) -> None:
        self._machine = Pushdown(document["rules"])
        self.start = self._machine.start or None

    def step(self, place: int, byte: int) -> int | None:
        """Return the state after a byte; see `Recogniser`."""
        following = self._machine.step(place, byte)
        return None if following == DEAD else following

    def expected(self, place: int) -> ByteRanges:
        """Return the next bytes; see `Recogniser`."""
        return join_ranges(((byte, byte),) for byte in range(256) if self._machine.step(place, byte) != DEAD)

    def accepts(self, place: int) -> bool:
        """Return whether a text may end here."""
        return self._machine.configurations[place].accepting


TARGET = JsonTarget()
