"""An Elixir module with the transition list and the initial state for Bumblebee's DFA processor.

That processor (bitcrowd's `Bumblebee.Text.Generation.DFAProcessor`, on the stateful
`Bumblebee.LogitsProcessor` of Bumblebee 0.7) puts a list of `{state, token, next state}`
into a dense table of states × tokens whose row 0 means "no state". So states are
numbered from 1 without a gap, and only those are kept that some tokens lead to. An
end is a transition like any other, to a last state that an end leads from to itself:
members of a batch that have finished have a row with a token, so their scores are
numbers.

Tokens are written as ids and ranges of ids, which the module expands: a list of a
million tuples would take the Elixir compiler minutes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from engine.compile import CompiledGrammar
from engine.export.checks import walk_tokens
from engine.export.provenance import comment, provenance_lines
from engine.export.tables.finite import index_refusal, token_index
from engine.export.tables.token_index import TokenIndex
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
from engine.export.target_bases import empty_refusal, package_name
from engine.export.text.plain_grammar import spelled
from engine.source.catalogue import catalogue_text
from engine.vocabulary import Vocabulary

_MOST_CELLS: Final = 1 << 31
_RUN: Final = 3  # at least this many consecutive ids are written as a range

_Rows: TypeAlias = list[dict[int, list[int]]]
"""For each state, from 1: the ids that lead to each next state, ascending. Row 0 is empty."""

_MODULE: Final = '''\
defmodule {module} do
  @moduledoc """
  A grammar over a vocabulary of {size} tokens, as transitions for Bumblebee's DFA processor.

      dfa_processor = {module}.processor()
      generation_config = Bumblebee.configure(generation_config, logits_processors: [dfa_processor])

  The processor's table takes {states} × {size} cells.
  """

  @initial_state {initial}
  @vocab_size {size}

  # {{state, next state, token ids and ranges of them}}
  @transitions [
{transitions}
  ]

  @doc "The state before the first token."
  def initial_state, do: @initial_state

  @doc "The width of the logits; pass `vocab_size` to `options/1` where the model's are wider."
  def vocab_size, do: @vocab_size

  @doc "All transitions as `{{state, token_id, next_state}}`; state 0 means none."
  def state_transitions do
    for {{state, next_state, tokens}} <- @transitions, token <- tokens, token_id <- expand(token) do
      {{state, token_id, next_state}}
    end
  end

  @doc "The options of the DFA processor."
  def options(vocab_size \\\\ @vocab_size) do
    [initial_state: @initial_state, state_transitions: state_transitions(), vocab_size: vocab_size]
  end

  @doc "The processor itself; give the module where it has another name."
  def processor(module \\\\ Bumblebee.Text.Generation.DFAProcessor) do
    Bumblebee.configure(module, options())
  end

  defp expand(%Range{{}} = range), do: range
  defp expand(token_id), do: [token_id]
end
'''


class BumblebeeTarget(TargetTexts):
    """The Bumblebee target; see `Target`."""

    name = "bumblebee"
    group = TargetGroup.ELSEWHERE
    suffix = ".ex"
    is_folder = False
    needs_vocabulary = True

    def supported_options(self, compiled: CompiledGrammar) -> frozenset[OptionName]:
        """Return the supported options; see `Target`."""
        return spelled(compiled) | {"name"}

    def refusal(self, job: ExportJob) -> str:
        """Return why a grammar does not fit; see `Target`."""
        has_no_end = job.vocabulary is not None and not job.vocabulary.eos_ids
        no_end = catalogue_text("export.refusal.fragment.bumblebee_no_end") if has_no_end else ""
        return empty_refusal(job.compiled) or index_refusal(job.compiled, job.vocabulary, job.options) or no_end

    def make(self, job: ExportJob) -> Artifact:
        """Make the artifact; see `Target`."""
        vocabulary = job.need_vocabulary()
        heeded = sorted(self.supported_options(job.compiled) - {"name"})

        def head(notes: tuple[str, ...]) -> str:
            return comment((*provenance_lines(job, *heeded), *notes))

        index, notes = token_index(job, _row_size, lambda _, notes: f"{head(notes)}\n{_MODULE}".encode())
        rows, dead_ends = _rows(index, vocabulary)
        if len(rows) * vocabulary.size > _MOST_CELLS:
            raise NotExportableError(
                "errors.export.bumblebee.table_too_large",
                count=len(rows),
                size=vocabulary.size,
                most_cells=_MOST_CELLS,
            )
        if dead_ends:
            notes += (catalogue_text("export.note.fragment.dead_ends", count=dead_ends),)
        module = _MODULE.format(
            module=_camel(package_name(job.options.name)),
            size=vocabulary.size,
            states=len(rows),
            initial=1,
            transitions="\n".join(_lines(rows)),
        )
        return Artifact((("grammar.ex", f"{head(notes)}\n{module}".encode()),), notes)

    def check(self, artifact: Artifact, job: ExportJob) -> Check:
        """Check the artifact; see `Target`."""
        recogniser = ElixirRecogniser(artifact.content.decode(), job.need_vocabulary())
        fewer = job.compiled.describes_json and bool(artifact.notes)
        compared = catalogue_text("export.compared.fragment.bumblebee")
        return Check(
            compared, *walk_tokens(job, recogniser, holds_fewer=fewer), catalogue_text("export.scope.bumblebee")
        )


def _row_size(ids: NDArray[np.int32], targets: NDArray[np.int32]) -> int:
    """Return the bytes of a state's lines: one for each next state."""
    lines: dict[int, list[int]] = {}
    for token, target in zip(ids.tolist(), targets.tolist(), strict=True):
        lines.setdefault(target, []).append(token)
    return sum(len(f"    {{0000, {target}, [{', '.join(_ids(row))}]}},\n") for target, row in lines.items())


def _rows(index: TokenIndex, vocabulary: Vocabulary) -> tuple[_Rows, int]:
    """Return the reachable states, and how many of them have no transition."""
    assert index.dfa.start is not None
    numbers = {index.dfa.start: 1}
    order = [index.dfa.start]
    rows: _Rows = [{}]
    for state in order:
        row: dict[int, list[int]] = {}
        for token_id, target in zip(index.tokens[state].tolist(), index.targets[state].tolist(), strict=True):
            if target not in numbers:
                numbers[target] = len(order) + 1
                order.append(target)
            row.setdefault(numbers[target], []).append(token_id)
        rows.append(row)
    ends, last = sorted(vocabulary.eos_ids), len(rows)
    for state, number in numbers.items():
        if index.dfa.states[state].accepting:
            rows[number][last] = ends
    rows.append({last: ends})
    return rows, sum(not row for row in rows[1:])


def _lines(rows: _Rows) -> Iterator[str]:
    last = len(rows) - 1
    for state, row in enumerate(rows):
        for target, ids in row.items():
            comma = "" if state == last else ","
            yield f"    {{{state}, {target}, [{', '.join(_ids(ids))}]}}{comma}"


def _ids(ids: list[int]) -> Iterator[str]:
    """Yield ids and ranges of ids in Elixir's syntax."""
    first = 0
    for at in range(1, len(ids) + 1):
        if at == len(ids) or ids[at] != ids[at - 1] + 1:
            if at - first >= _RUN:
                yield f"{ids[first]}..{ids[at - 1]}"
            else:
                yield from map(str, ids[first:at])
            first = at


def _camel(name: str) -> str:
    return "".join(word.capitalize() for word in name.split("_"))


class ElixirRecogniser:
    """A module that was read back, as a `TokenRecogniser`.

    Raises:
        MismatchError: its states or ids are not valid for the processor's table.
    """

    def __init__(self, text: str, vocabulary: Vocabulary) -> None:
        self.start = int(_found(r"@initial_state (\d+)", text))
        self._vocabulary = vocabulary
        self._table: dict[int, dict[int, int]] = {}
        for state, target, listed in re.findall(r"^    \{(\d+), (\d+), \[([0-9., ]+)\]\},?$", text, re.MULTILINE):
            row = self._table.setdefault(int(state), {})
            for word in listed.split(", "):
                first, _, final = word.partition("..")
                for token_id in range(int(first), int(final or first) + 1):
                    if token_id in row:
                        raise MismatchError("errors.export.bumblebee.two_transitions", state=state, token_id=token_id)
                    row[token_id] = int(target)
        states = self._table.keys() | {target for row in self._table.values() for target in row.values()}
        ids = {token_id for row in self._table.values() for token_id in row}
        if states != set(range(1, len(states) + 1)) or self.start not in states:
            raise MismatchError("errors.export.bumblebee.states_not_numbered")
        if int(_found(r"@vocab_size (\d+)", text)) != vocabulary.size or not ids <= set(range(vocabulary.size)):
            raise MismatchError("errors.export.bumblebee.other_vocabulary")
        self._last = {
            target for row in self._table.values() for one, target in row.items() if one in vocabulary.eos_ids
        }

    def mask(self, state: int) -> bytes:
        """Return the mask of a state; after an EOS the table still has the EOS, but a text has nothing."""
        flags = np.zeros(32 * ((self._vocabulary.size + 31) // 32), np.bool_)
        if state not in self._last:
            flags[list(self._table.get(state, ()))] = True
        return np.packbits(flags, bitorder="little").tobytes()

    def advance(self, state: int, token_id: int) -> int | None:
        """Return the state after a token; see `TokenRecogniser`."""
        return None if state in self._last else self._table.get(state, {}).get(token_id)


def _found(pattern: str, text: str) -> str:
    found = re.search(pattern, text)
    if found is None:
        raise MismatchError("errors.export.bumblebee.part_missing", text=pattern.split(" ", maxsplit=1)[0])
    return found[1]


TARGET = BumblebeeTarget()
