"""The plugin in vLLM itself: its loaders, its persistent batch and its validation, a matcher beside each request.

vLLM is no dependency of the tests, since its wheels want a GPU's libraries, and all that is meant here is Python:
unpacked somewhere, with what it imports, it will do (`PYTHONPATH=…`). It was last run with vLLM 0.33.0.
`test_vllm.py` holds the same against a model of that batch, on every machine.
"""

from __future__ import annotations

import random
import sys
import warnings
from collections import Counter
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from exports import job, vocabulary

from engine.export.writing import export
from engine.matching import Matcher

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    gpu_input_batch = pytest.importorskip(
        "vllm.v1.worker.gpu_input_batch", reason="needs vLLM, which no extra installs"
    )
    from vllm import SamplingParams
    from vllm.exceptions import VLLMValidationError
    from vllm.utils import torch_utils
    from vllm.v1.sample.logits_processor import build_logitsprocs, validate_logits_processors_parameters
    from vllm.v1.worker.gpu.sample.logits_processor import interface, loader

pytestmark = pytest.mark.filterwarnings("ignore")

VOCABULARY = vocabulary()
EOS, WIDTH, KEY = 298, 320, "turnstile_grammar"
CPU = torch.device("cpu")
GRAMMARS = {
    "nested": ("gbnf", 'root ::= "(" root ")" | "[" (root ("," root)*)? "]" | [a-z]+'),
    "dates": ("regex", "[0-9]{2}-[a-c]{1,4}"),
    "record": ("json_schema", '{"type": "object", "properties": {"a": {"enum": ["x", 12]}, "b": {"type": "boolean"}}}'),
}
CLASSES = [f"turnstile_{name}.vllm_plugin:GrammarLogitsProcessor" for name in GRAMMARS]
CONFIG = SimpleNamespace(speculative_config=None, scheduler_config=SimpleNamespace(max_num_seqs=16))


@pytest.fixture(scope="module")
def jobs(tmp_path_factory):
    """The grammars by name, their plugins on the path."""
    folder = tmp_path_factory.mktemp("plugins")
    found = {name: job(*grammar, VOCABULARY, name) for name, grammar in GRAMMARS.items()}
    for name, of in found.items():
        export("vllm", of, folder / name)
    places = [str(folder / name) for name in found]
    sys.path[:0] = places
    yield found
    sys.path[:] = [place for place in sys.path if place not in places]
    for module in [one for one in sys.modules if one.startswith("turnstile_")]:
        del sys.modules[module]


@pytest.fixture(autouse=True)
def no_pinned_memory(monkeypatch):
    """vLLM takes it that there is a GPU to pin memory for."""
    for module in (torch_utils, gpu_input_batch):
        monkeypatch.setattr(module, "PIN_MEMORY", False)


@dataclass(eq=False)
class Request:
    """A request of vLLM's, the grammar that it asks for, and a matcher that took what it wrote."""

    state: Any
    name: str | None
    matcher: Matcher | None = None

    def holds(self, row: torch.Tensor, before: torch.Tensor) -> None:
        if self.matcher is None:
            assert torch.equal(row, before)
            return
        bits = np.unpackbits(self.matcher.bitmask().view(np.uint8), bitorder="little")
        ids = np.flatnonzero(bits).tolist() or [EOS]
        assert torch.isfinite(row).nonzero().flatten().tolist() == ids
        assert torch.equal(row[ids], before[ids])

    def accept(self, token_id: int) -> None:
        assert self.matcher is None or self.matcher.is_finished or self.matcher.accept(token_id)


def asking(name: str | None) -> SamplingParams:
    return SamplingParams(extra_args={KEY: name} if name else None)


def drawn(row: torch.Tensor, generator: torch.Generator) -> int:
    return int(torch.multinomial(row.softmax(-1), 1, generator=generator))


def request_of(number: int, name: str | None, jobs, chance: random.Random) -> Request:
    state = gpu_input_batch.CachedRequestState(
        req_id=f"request {number}",
        prompt_token_ids=[5] * chance.randint(1, 9),
        mm_features=[],
        sampling_params=asking(name),
        generator=None,
        block_ids=([1],),
        num_computed_tokens=0,
        output_token_ids=[],
    )
    return Request(state, name, Matcher(jobs[name].compiled, VOCABULARY) if name else None)


@pytest.mark.parametrize("one_at_a_time", [False, True])
def test_the_first_runner(jobs, one_at_a_time):
    """Requests come, leave, come back, are moved and swapped, and write, in vLLM's own `InputBatch`."""
    names = [
        name.replace("vllm_plugin:Grammar", "vllm_request:GrammarRequest") if one_at_a_time else name
        for name in CLASSES
    ]
    processors = build_logitsprocs(CONFIG, CPU, False, False, names)
    assert len([one for one in processors.non_argmax_invariant if "Grammar" in type(one).__name__]) == 3
    batch = gpu_input_batch.InputBatch(
        max_num_reqs=12,
        max_model_len=400,
        max_num_batched_tokens=4000,
        device=CPU,
        vocab_size=WIDTH,
        block_sizes=[16],
        max_num_blocks_per_req=[40],
        logitsprocs=processors,
        logitsprocs_need_output_token_ids=True,
    )
    chance, generator = random.Random(5), torch.Generator().manual_seed(5)
    live: dict[str, Request] = {}
    waiting: list[Request] = []
    seen = Counter()
    for _ in range(600):
        for name in [
            name for name, one in live.items() if chance.random() < 0.05 or len(one.state.output_token_ids) > 60
        ]:
            batch.remove_request(name)
            gone = live.pop(name)
            if chance.random() < 0.4 and len(gone.state.output_token_ids) < 60:
                waiting.append(gone)
        while len(live) < 12 and chance.random() < 0.45:
            seen["added"] += 1
            if waiting and chance.random() < 0.5:
                seen["back"] += 1
                request = waiting.pop()
            else:
                request = request_of(seen["added"], chance.choice([None, *GRAMMARS]), jobs, chance)
            live[request.state.req_id] = request
            batch.add_request(request.state)
        batch.condense()
        seen["moved"] += len(batch.batch_update_builder.moved)
        if batch.num_reqs > 1 and chance.random() < 0.3:
            seen["swapped"] += 1
            batch.swap_states(*chance.sample(range(batch.num_reqs), 2))
        batch.refresh_metadata()
        before = torch.randn(batch.num_reqs, WIDTH, generator=generator)
        after = before.clone()
        for processor in processors.non_argmax_invariant:
            after = processor.apply(after)
        assert not after.isnan().any()
        for index in range(batch.num_reqs):
            request = live[batch.req_ids[index]]
            request.holds(after[index], before[index])
            token_id = drawn(after[index], generator)
            end = int(batch.num_tokens_no_spec[index])
            batch.token_ids_cpu[index, end] = token_id
            batch.num_tokens_no_spec[index] = end + 1
            request.state.output_token_ids.append(token_id)
            request.accept(token_id)
    assert min(seen[what] for what in ("back", "moved", "swapped")) > 50


def test_the_second_runner(jobs):
    """Slots that are recycled, rows in any order, by vLLM's own loader and context."""
    table, prompts = torch.zeros((12, 400), dtype=torch.int32), np.zeros(12, np.int32)
    states = SimpleNamespace(
        device=CPU,
        max_num_reqs=12,
        vocab_size=WIDTH,
        all_token_ids=SimpleNamespace(gpu=table),
        prompt_len=SimpleNamespace(np=prompts),
        prefill_len=None,
        total_len=None,
    )
    processors = loader.build_custom_logits_processors(CONFIG, states, False, CLASSES)
    chance, generator = random.Random(3), torch.Generator().manual_seed(3)
    live: dict[int, Request] = {}
    rows = 0
    for _ in range(500):
        for slot in [one for one in live if chance.random() < 0.05 or len(live[one].state.output_token_ids) > 80]:
            del live[slot]
        for slot in set(range(12)) - live.keys():
            if chance.random() < 0.3:
                request = request_of(0, chance.choice([None, *GRAMMARS]), jobs, chance)
                live[slot], prompts[slot] = request, len(request.state.prompt_token_ids)
                table[slot], table[slot, : prompts[slot]] = -7, 5
                added = [one.add_request(slot, request.state.sampling_params) for one in processors]
                assert any(added) is (request.name is not None)
        order = list(live)
        chance.shuffle(order)
        ids = [([5, *live[slot].state.output_token_ids])[-1] for slot in order]
        positions = [int(prompts[slot]) + len(live[slot].state.output_token_ids) - 1 for slot in order]
        context = interface.LogitsContext(
            expanded_idx_mapping=torch.tensor(order, dtype=torch.int32),
            idx_mapping=torch.tensor(order, dtype=torch.int32),
            idx_mapping_np=np.array(order, np.int32),
            expanded_local_pos=torch.zeros(len(order), dtype=torch.int32),
            input_ids=torch.tensor(ids, dtype=torch.int32),
            pos=torch.tensor(positions),
            seq_lens_upper_bound_np=np.array(positions) + 1,
        )
        before = torch.randn(len(order), WIDTH, generator=generator)
        after = before.clone()
        for processor in processors:
            processor.apply_staged_writes()
            after = processor.apply(after, context)
        for number, slot in enumerate(order):
            rows += 1
            live[slot].holds(after[number], before[number])
            token_id = drawn(after[number], generator)
            table[slot, positions[number] + 1] = token_id
            live[slot].state.output_token_ids.append(token_id)
            live[slot].accept(token_id)
    assert rows > 4000


@pytest.mark.parametrize(
    "fields",
    [
        {"extra_args": {KEY: "unknown"}},
        *(
            {"extra_args": {KEY: "dates"}, **conflict}
            for conflict in ({"min_tokens": 3}, {"ignore_eos": True}, {"allowed_token_ids": [1]}, {"bad_words": ["x"]})
        ),
    ],
)
def test_what_cannot_be_given_is_refused_by_either_runner(jobs, fields):
    second = loader.build_custom_logits_processors_params_validator(CLASSES)
    for check in (lambda params: validate_logits_processors_parameters(CLASSES, params), second):
        check(asking("dates"))
        check(asking(None))
        with pytest.raises(VLLMValidationError, match=KEY):
            check(SamplingParams(**fields))
