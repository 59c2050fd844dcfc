"""The token index as arrays in one safetensors file, a sparse matrix by rows (CSR).

    indptr     int64[S + 1]: the transitions of state s are number indptr[s] to indptr[s + 1]
    tokens     int32[T]: the token of each transition, ascending within a state
    targets    int32[T]: the state that it leads to
    accepting  uint8[S]: 1 where the text may end, so where an end token may come

The header's metadata contain `format`, `version`, `start` (a state; empty if no text matches) and `turnstile`: the
provenance, as JSON. The same grammar, options and vocabulary give the same bytes.
"""

from __future__ import annotations

import json
import struct
from typing import Any, Final

import numpy as np

from engine.compile import CompiledGrammar
from engine.export.checks import IndexRecogniser, walk_tokens
from engine.export.provenance import provenance
from engine.export.tables.finite import index_refusal, token_index
from engine.export.tables.token_index import FORMAT, VERSION, TokenIndex
from engine.export.target import Artifact, Check, ExportJob, MismatchError, OptionName, TargetGroup, TargetTexts
from engine.export.text.plain_grammar import spelled
from engine.source.catalogue import catalogue_text

_HEADER: Final = struct.Struct("<Q")


class SafetensorsTarget(TargetTexts):
    """The safetensors target; see `Target`."""

    name = "safetensors"
    group = TargetGroup.ELSEWHERE
    suffix = ".safetensors"
    is_folder = False
    needs_vocabulary = True

    def supported_options(self, compiled: CompiledGrammar) -> frozenset[OptionName]:
        """Return the supported options; see `Target`."""
        return spelled(compiled)

    def refusal(self, job: ExportJob) -> str:
        """Return why a grammar does not fit; see `Target`."""
        return index_refusal(job.compiled, job.vocabulary, job.options)

    def make(self, job: ExportJob) -> Artifact:
        """Make the artifact; see `Target`."""
        index, notes = token_index(
            job, lambda ids, targets: ids.nbytes + targets.nbytes, lambda index, notes: self._content(index, notes, job)
        )
        return Artifact((("grammar.safetensors", self._content(index, notes, job)),), notes)

    def _content(self, index: TokenIndex, notes: tuple[str, ...], job: ExportJob) -> bytes:
        from safetensors.numpy import save

        nothing = np.zeros(0, np.int32)
        tensors = {
            "indptr": index.indptr,
            "tokens": np.concatenate((nothing, *index.tokens)),
            "targets": np.concatenate((nothing, *index.targets)),
            "accepting": np.array([state.accepting for state in index.dfa.states], np.uint8),
        }
        metadata = {
            "format": FORMAT,
            "version": str(VERSION),
            "start": "" if index.dfa.start is None else str(index.dfa.start),
            "turnstile": json.dumps(
                {**provenance(job, *self.supported_options(job.compiled)), "notes": list(notes)}, ensure_ascii=False
            ),
        }
        return _in_order(save(tensors, metadata))

    def check(self, artifact: Artifact, job: ExportJob) -> Check:
        """Check the artifact; see `Target`."""
        from safetensors.numpy import load

        vocabulary = job.need_vocabulary()
        metadata = _metadata(artifact.content)
        origin = json.loads(metadata["turnstile"])
        if origin["vocabulary"]["fingerprint"] != vocabulary.fingerprint:
            raise MismatchError("errors.export.json.other_vocabulary")
        arrays: dict[str, Any] = load(artifact.content)
        recogniser = IndexRecogniser(
            int(metadata["start"]) if metadata["start"] else None,
            np.flatnonzero(arrays["accepting"]).tolist(),
            arrays["indptr"],
            arrays["tokens"],
            arrays["targets"],
            vocabulary,
        )
        compared = catalogue_text("export.compared.fragment.arrays")
        return Check(compared, *walk_tokens(job, recogniser, holds_fewer=bool(origin["notes"])))


def _in_order(content: bytes) -> bytes:
    """Return the same file with sorted metadata: the library writes them in the random order of a hash table.

    The header is padded with spaces to whole words, as the library does; offsets of arrays are counted from its end.
    """
    header, begins = _header(content)
    header["__metadata__"] = dict(sorted(header["__metadata__"].items()))
    text = json.dumps(header, ensure_ascii=False, separators=(",", ":")).encode()
    text += b" " * (-len(text) % _HEADER.size)
    return _HEADER.pack(len(text)) + text + content[begins:]


def _header(content: bytes) -> tuple[dict[str, dict[str, str]], int]:
    """Return the header before the arrays, and its end."""
    (length,) = _HEADER.unpack_from(content)
    begins = _HEADER.size + length
    header: dict[str, dict[str, str]] = json.loads(content[_HEADER.size : begins])
    return header, begins


def _metadata(content: bytes) -> dict[str, str]:
    return _header(content)[0]["__metadata__"]


TARGET = SafetensorsTarget()
