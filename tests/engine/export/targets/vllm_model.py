"""vLLM, as far as a logits processor sees it: its interfaces, and the two model runners that drive them.

Written from vLLM's documents and sources (`vllm/v1/sample/logits_processor`, `vllm/v1/worker/gpu_input_batch.py`,
`gpu_model_runner.py`; `vllm/v1/worker/gpu/sample/logits_processor`), in words of our own. The first runner:

- A request keeps its index in the batch until it is moved. What is told of a step is aggregated.
- Requests that are over leave their index empty. New ones take the lowest empty index, which then counts as not
  removed; where there is none, they are appended.
- Holes that are left are closed: the last request moves one-way to the lowest hole, again and again. Indices that
  stay removed lie behind the end of the batch then, and are told in descending order.
- An attention backend may swap any two requests afterwards.
- Without a change there is no update: `update_state(None)`.
- The list of output ids is one and the same object for the whole life of a request in the batch. Under asynchronous
  scheduling it ends with -1 while `update_state` runs, and the id is filled in before `apply`, if at all.

The second runner:

- A request keeps its slot. Slots are recycled; `add_request` tells who comes, and nobody tells who goes.
- Written ids lie in a table of slots by positions. A request that was interrupted comes back to another slot, with
  what it wrote filled in behind its prompt. Prompts may be read in parts, a row for each; its logits are of no use.
- Rows are in another order in each step. With speculative decoding a request has a row more for each draft, whose id
  is nowhere but in `input_ids`; drafts are taken as long as they are what was drawn.
"""

from __future__ import annotations

import inspect
import sys
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum, auto
from functools import partial
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import torch


class MoveDirectionality(Enum):
    UNIDIRECTIONAL = auto()
    SWAP = auto()


@dataclass(frozen=True)
class BatchUpdate:
    batch_size: int
    removed: Sequence[int]
    added: Sequence[tuple[int, Any, list[int] | None, list[int]]]
    moved: Sequence[tuple[int, int, MoveDirectionality]]


class LogitsProcessor(ABC):
    @classmethod
    def validate_params(cls, sampling_params: Any) -> None:
        return None

    @abstractmethod
    def __init__(self, vllm_config: Any, device: torch.device, is_pin_memory: bool) -> None: ...

    @abstractmethod
    def apply(self, logits: torch.Tensor) -> torch.Tensor: ...

    @abstractmethod
    def is_argmax_invariant(self) -> bool: ...

    @abstractmethod
    def update_state(self, batch_update: BatchUpdate | None) -> None: ...


class AdapterLogitsProcessor(LogitsProcessor):
    """One callable for each request; called with its output ids, or with prompt and output, and its row."""

    def __init__(self, vllm_config: Any, device: torch.device, is_pin_memory: bool) -> None:
        self.of_index: dict[int, Any] = {}

    @abstractmethod
    def new_req_logits_processor(self, params: Any) -> Any: ...

    def update_state(self, batch_update: BatchUpdate | None) -> None:
        if batch_update is None:
            return
        for index, params, prompt, output in batch_update.added:
            self.of_index.pop(index, None)
            made = self.new_req_logits_processor(params)
            if made:
                wants_prompt = len(inspect.signature(made).parameters) == 3
                self.of_index[index] = partial(made, prompt, output) if wants_prompt else partial(made, output)
        for index in batch_update.removed:
            self.of_index.pop(index, None)
        for one, other, direction in batch_update.moved:
            moved, replaced = self.of_index.pop(one, None), self.of_index.pop(other, None)
            if moved is not None:
                self.of_index[other] = moved
            if direction is MoveDirectionality.SWAP and replaced is not None:
                self.of_index[one] = replaced

    def apply(self, logits: torch.Tensor) -> torch.Tensor:
        for index, process in self.of_index.items():
            logits[index] = process(logits[index])
        return logits


@dataclass(eq=False)
class BatchRequest:
    """A request as a test makes it: its parameters, and its output in the engine's own list."""

    params: Any
    output: list[int] = field(default_factory=list)
    prompt: list[int] = field(default_factory=list)


def sampling_params(**fields: Any) -> SimpleNamespace:
    """What a processor reads of a request's parameters."""
    defaults = {"extra_args": None, "structured_outputs": None, "min_tokens": 0, "allowed_token_ids": None}
    return SimpleNamespace(**{**defaults, "bad_words": None, "temperature": 1.0, **fields})


class PersistentBatch:
    """The batch, and the processors that are told of it."""

    def __init__(self, processors: Sequence[LogitsProcessor]) -> None:
        self.slots: list[BatchRequest | None] = []
        self._processors = processors

    def change(
        self, over: Sequence[int] = (), new: Sequence[BatchRequest] = (), swaps: Sequence[tuple[int, int]] = ()
    ) -> BatchUpdate | None:
        """Requests come and go, then those that are left are swapped; the processors are told once.

        Args:
            over: indices of requests that leave.
            new: requests that come.
            swaps: pairs of indices behind the closing of holes.
        """
        removed = sorted(over, reverse=True)
        added: list[tuple[int, Any, list[int] | None, list[int]]] = []
        moved: list[tuple[int, int, MoveDirectionality]] = []
        for index in removed:
            assert self.slots[index] is not None
            self.slots[index] = None
        for request in new:
            index = removed.pop() if removed else len(self.slots)
            self.slots[index : index + 1] = [request]
            added.append((index, request.params, request.prompt, request.output))
        last = len(self.slots) - 1
        while removed:
            while last >= 0 and self.slots[last] is None:
                last -= 1
            if removed[-1] >= last:
                break
            hole = removed.pop()
            self.slots[hole], self.slots[last] = self.slots[last], None
            moved.append((last, hole, MoveDirectionality.UNIDIRECTIONAL))
        self.slots = [request for request in self.slots if request is not None]
        for one, other in swaps:
            self.slots[one], self.slots[other] = self.slots[other], self.slots[one]
            moved.append((one, other, MoveDirectionality.SWAP))
        update = None
        if removed or added or moved:
            update = BatchUpdate(len(self.slots), tuple(removed), tuple(added), tuple(moved))
        for processor in self._processors:
            processor.update_state(update)
        return update

    @property
    def requests(self) -> list[BatchRequest]:
        """Those in the batch, by index; there are no holes between two steps."""
        return [request for request in self.slots if request is not None]

    def process(self, logits: torch.Tensor) -> torch.Tensor:
        """Logits of all requests, through all processors."""
        for processor in self._processors:
            logits = processor.apply(logits)
        return logits


class SlotLogitsProcessor(ABC):
    """The interface of the second runner."""

    def __init__(self, vllm_config: Any, req_states: Any) -> None:
        return

    @classmethod
    def validate_params(cls, sampling_params: Any) -> None:
        return

    def add_request(self, req_idx: int, sampling_params: Any) -> bool:
        return True

    def apply_staged_writes(self) -> None:
        return

    @abstractmethod
    def apply(self, logits: torch.Tensor, ctx: Any) -> torch.Tensor: ...


@dataclass(eq=False)
class SlotRequest:
    """A request of the second runner: what it wrote, and how much of prompt and output was read since it came."""

    params: Any
    prompt: list[int]
    output: list[int] = field(default_factory=list)
    read: int = 0

    @property
    def ids(self) -> list[int]:
        return [*self.prompt, *self.output]


@dataclass(frozen=True)
class SlotRow:
    """A row of the logits: whose it is, and the drafts that stand before it."""

    request: SlotRequest
    drafts: tuple[int, ...]


class SlotRunner:
    """Slots, rows, and the processors that are told of them."""

    SLOTS, LENGTH = 12, 400

    def __init__(self, classes: Sequence[type], width: int) -> None:
        self.table = torch.zeros((self.SLOTS, self.LENGTH), dtype=torch.int32)
        self.prompt_lengths = np.zeros(self.SLOTS, np.int32)
        states = SimpleNamespace(
            device=torch.device("cpu"),
            max_num_reqs=self.SLOTS,
            vocab_size=width,
            all_token_ids=SimpleNamespace(gpu=self.table),
            prompt_len=SimpleNamespace(np=self.prompt_lengths),
        )
        self.slots: dict[int, SlotRequest] = {}
        self.free = list(range(self.SLOTS))
        self._processors = [one(SimpleNamespace(), states) for one in classes]

    def add(self, request: SlotRequest) -> bool:
        """A request comes, or comes back; whether some processor changes its logits."""
        slot = self.free.pop(0)
        self.slots[slot] = request
        request.read = 0
        self.prompt_lengths[slot] = len(request.prompt)
        self.table[slot] = -7  # what a archived request left behind
        self.table[slot, : len(request.ids)] = torch.tensor(request.ids, dtype=torch.int32)
        return any([one.add_request(slot, request.params) for one in self._processors])  # noqa: C419 - all are told

    def remove(self, slot: int) -> SlotRequest:
        """A request goes; nobody is told."""
        self.free.append(slot)
        return self.slots.pop(slot)

    def rows(
        self, reads: dict[int, int], drafts: dict[int, list[int]], order: Sequence[int], logits: torch.Tensor
    ) -> tuple[list[SlotRow], torch.Tensor]:
        """A step: the rows and their logits, through all processors.

        Args:
            reads: for each slot how many ids are read in this step; all that are left where it is not named.
            drafts: for each slot its drafts, of those that read to the end.
            order: the slots, in the order of the batch.
            logits: float[rows or more, width].
        """
        rows: list[SlotRow] = []
        columns: list[tuple[int, int, int, int]] = []  # slot, number, id, position
        for slot in order:
            request = self.slots[slot]
            request.read = min(request.read + reads.get(slot, self.LENGTH), len(request.ids))
            known = drafts.get(slot, []) if request.read == len(request.ids) else []
            fed = [request.ids[request.read - 1], *known]
            for number, token_id in enumerate(fed):
                rows.append(SlotRow(request, tuple(known[:number])))
                columns.append((slot, number, token_id, request.read - 1 + number))
        mapping, numbers, ids, positions = torch.tensor(columns, dtype=torch.int32).T
        context = SimpleNamespace(
            expanded_idx_mapping=mapping,
            expanded_local_pos=numbers,
            input_ids=ids,
            pos=positions.long(),
            idx_mapping_np=np.array(order, np.int32),
        )
        logits = logits[: len(rows)]
        for processor in self._processors:
            processor.apply_staged_writes()
            logits = processor.apply(logits, context)
        return rows, logits

    def write(self, slot: int, token_id: int) -> None:
        """An id is written."""
        request = self.slots[slot]
        self.table[slot, len(request.ids)] = token_id
        request.output.append(token_id)


def vllm_modules(*, second_runner: bool = True) -> dict[str, ModuleType]:
    """The modules of vLLM that a processor imports, to be put into `sys.modules`."""
    here = sys.modules[__name__]
    first, second = "vllm.v1.sample.logits_processor", "vllm.v1.worker.gpu.sample.logits_processor"
    names = {name.rsplit(".", depth)[0] for name in (first, second) for depth in range(name.count(".") + 1)}
    modules = {name: ModuleType(name) for name in names if second_runner or not name.startswith("vllm.v1.worker")}
    for name in ("AdapterLogitsProcessor", "BatchUpdate", "LogitsProcessor", "MoveDirectionality"):
        setattr(modules[first], name, getattr(here, name))
    if second_runner:
        vars(modules[second])["LogitsProcessor"] = SlotLogitsProcessor
    return modules


def load_by_name(name: str) -> type[LogitsProcessor]:
    """As vLLM does for `--logits-processors MODULE:CLASS`."""
    module, _, qualified = name.partition(":")
    found: Any = __import__(module, fromlist=["_"])
    for part in qualified.split("."):
        found = getattr(found, part)
    assert isinstance(found, type)
    assert issubclass(found, LogitsProcessor)
    return found
