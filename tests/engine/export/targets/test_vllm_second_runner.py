"""The vLLM plugin in a model of the second model runner: slots, rows in any order, drafts, prompts read in parts."""

from __future__ import annotations

import random
import sys
from collections import Counter

import numpy as np
import pytest
import torch
from exports import imported, job, vocabulary

from engine.export.writing import export
from engine.matching import Matcher
from tests.engine.export.targets.vllm_model import (
    LogitsProcessor,
    SlotLogitsProcessor,
    SlotRequest,
    SlotRow,
    SlotRunner,
    sampling_params,
    vllm_modules,
)

VOCABULARY = vocabulary()
EOS, WIDTH, KEY = 298, 320, "turnstile_grammar"
GRAMMARS = {
    "nested": ("gbnf", 'root ::= "(" root ")" | "[" (root ("," root)*)? "]" | [a-z]+'),
    "dates": ("regex", "[0-9]{2}-[a-c]{1,4}"),
}


@pytest.fixture(scope="module")
def packages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("plugins")
    jobs = {name: job(*grammar, VOCABULARY, name) for name, grammar in GRAMMARS.items()}
    for name, of in jobs.items():
        export("vllm", of, folder / name)
    return folder, jobs


@pytest.fixture
def classes(packages, monkeypatch):
    """The plugins' classes, by the grammar's name."""
    for name, module in vllm_modules().items():
        monkeypatch.setitem(sys.modules, name, module)
    folder = packages[0]
    with (
        imported(folder / "nested", "turnstile_nested.vllm_plugin") as nested,
        imported(folder / "dates", "turnstile_dates.vllm_plugin") as dates,
    ):
        yield {"nested": nested.GrammarLogitsProcessor, "dates": dates.GrammarLogitsProcessor}
    for module in [one for one in sys.modules if one.startswith("turnstile_")]:
        del sys.modules[module]


def asking(name: str | None, prompt: int = 3, **fields) -> SlotRequest:
    return SlotRequest(sampling_params(extra_args={KEY: name} if name else None, **fields), [5] * prompt)


def allowed(row: torch.Tensor) -> list[int]:
    return torch.isfinite(row).nonzero().flatten().tolist()


class Run:
    """Steps of an engine; every row that counts is held against a matcher that took the same ids."""

    def __init__(self, jobs, classes) -> None:
        self.jobs = jobs
        self.runner = SlotRunner(list(classes.values()), WIDTH)
        self.chance, self.generator = random.Random(3), torch.Generator().manual_seed(3)
        self.names: dict[SlotRequest, str | None] = {}
        self.interrupted: list[SlotRequest] = []
        self.seen = Counter()

    def step(self) -> None:
        chance, runner = self.chance, self.runner
        for slot in [one for one in runner.slots if chance.random() < 0.05 or len(runner.slots[one].ids) > 80]:
            gone = runner.remove(slot)
            if chance.random() < 0.4 and len(gone.ids) < 60:
                self.interrupted.append(gone)
        while len(runner.slots) < 10 and chance.random() < 0.4:
            self._arrive()
        order = [slot for slot in runner.slots if chance.random() < 0.8]
        chance.shuffle(order)
        if not order:
            return
        reads = {slot: chance.randint(1, 6) for slot in order if chance.random() < 0.5}
        drafts = {slot: self._drafts(runner.slots[slot]) for slot in order if chance.random() < 0.4}
        logits = torch.randn(60, WIDTH, generator=self.generator)
        rows, after = runner.rows(reads, drafts, order, logits.clone())
        assert not after.isnan().any()
        drawn = torch.multinomial(after.softmax(-1), 1, generator=self.generator).flatten().tolist()
        slots = {request: slot for slot, request in runner.slots.items()}
        for number, row in enumerate(rows):
            if row.request.read == len(row.request.ids) - len(row.drafts) or row.drafts:
                self._compare(row, after[number], logits[number])
        self._write(rows, drawn, slots)

    def _arrive(self) -> None:
        if self.interrupted and self.chance.random() < 0.5:
            request = self.interrupted.pop()
            self.seen["come back"] += 1
        else:
            name = self.chance.choice([None, *self.jobs])
            request = asking(name, self.chance.randint(1, 12))
            self.names[request] = name
        assert self.runner.add(request) == (self.names[request] is not None)

    def _matcher(self, request: SlotRequest) -> Matcher | None:
        name = self.names[request]
        if name is None:
            return None
        matcher = Matcher(self.jobs[name].compiled, VOCABULARY)
        for token_id in request.output:
            assert matcher.is_finished or matcher.accept(token_id)
        return matcher

    def _drafts(self, request: SlotRequest) -> list[int]:
        """Ids that may well be taken: mostly legal ones."""
        matcher, found = self._matcher(request), []
        for _ in range(self.chance.randint(1, 3)):
            ids = [] if matcher is None else self._allowed(matcher)
            found.append(self.chance.choice(ids) if ids and self.chance.random() < 0.8 else self.chance.randrange(290))
            if matcher is not None and not matcher.accept(found[-1]):
                matcher = None
        return found

    def _allowed(self, matcher: Matcher) -> list[int]:
        return np.flatnonzero(np.unpackbits(matcher.bitmask().view(np.uint8), bitorder="little")).tolist()

    def _compare(self, row: SlotRow, after: torch.Tensor, before: torch.Tensor) -> None:
        matcher = self._matcher(row.request)
        if matcher is None:
            assert torch.equal(after, before)
            return
        legal = all(matcher.is_finished or matcher.accept(token_id) for token_id in row.drafts)
        ids = (self._allowed(matcher) if legal else []) or [EOS]
        assert allowed(after) == ids
        assert torch.equal(after[ids], before[ids])
        self.seen["behind drafts" if row.drafts else "rows"] += 1
        self.seen["behind a wrong draft"] += not legal

    def _write(self, rows: list[SlotRow], drawn: list[int], slots: dict[SlotRequest, int]) -> None:
        """What was drawn is written; a draft is taken as long as it is what was drawn before it."""
        went: dict[SlotRequest, list[int]] = {}
        for row, token_id in zip(rows, drawn, strict=True):
            request = row.request
            if not row.drafts:
                if request.read < len(request.ids):
                    self.seen["read in parts"] += 1
                    continue
                went[request] = [token_id]
            elif went.get(request) == list(row.drafts):
                went[request].append(token_id)
                self.seen["drafts taken"] += 1
        for request, token_ids in went.items():
            for token_id in token_ids:
                self.runner.write(slots[request], token_id)
            request.read = len(request.ids) - 1


def test_many_steps_of_slots(classes, packages):
    run = Run(packages[1], classes)
    for _ in range(500):
        run.step()
    assert len(run.seen) == 6, run.seen
    assert min(run.seen.values()) > 5, run.seen
    assert run.seen["rows"] > 600


def test_one_class_is_for_both_runners(classes):
    for one in classes.values():
        assert issubclass(one, LogitsProcessor)
        assert issubclass(one, SlotLogitsProcessor)


def test_slots_that_nobody_asks_are_left_alone(classes):
    runner = SlotRunner([classes["dates"]], WIDTH)
    assert not runner.add(asking(None))
    assert not runner.add(asking("nested"))
    logits = torch.zeros(2, WIDTH)
    _, after = runner.rows({}, {}, [1, 0], logits)
    assert after.data_ptr() == logits.data_ptr()
    assert not after.any()
    assert sys.modules["turnstile_dates.vllm_requests"].load_guide.cache_info().currsize == 0


def test_a_slot_forgets_who_had_it(classes):
    runner = SlotRunner([classes["dates"]], WIDTH)
    runner.SLOTS = 1
    runner.free = [0]
    assert runner.add(asking("dates"))
    runner.rows({}, {}, [0], torch.zeros(1, WIDTH))
    runner.write(0, ord("1"))
    runner.remove(0)
    assert not runner.add(asking(None))
    _, free = runner.rows({}, {}, [0], torch.zeros(1, WIDTH))
    assert len(allowed(free[0])) == WIDTH
    runner.remove(0)
    assert runner.add(asking("dates"))
    _, first = runner.rows({}, {}, [0], torch.zeros(1, WIDTH))
    assert len(allowed(first[0])) == 11


@pytest.mark.parametrize("request_", [asking("dats"), asking("dates", min_tokens=2)], ids=["unknown", "contradicted"])
def test_what_was_not_validated_may_only_end(classes, caplog, request_):
    runner = SlotRunner([classes["dates"]], WIDTH)
    with caplog.at_level("ERROR"):
        assert runner.add(request_)
    assert "is ended at once" in caplog.text
    _, after = runner.rows({}, {}, [0], torch.zeros(1, WIDTH))
    assert allowed(after[0]) == [EOS]
