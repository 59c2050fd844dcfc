"""The vLLM plugin, in a faithful model of vLLM's persistent batch, with a matcher of its own for each request."""

from __future__ import annotations

import importlib.util
import json
import random
import subprocess
import sys
import tomllib
import zipfile
from collections import Counter
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from catalogue_texts import shows
from exports import imported, job, vocabulary

from engine.export.target import Artifact, MismatchError
from engine.export.targets import target
from engine.export.writing import check, export, make
from engine.export.writing import refusal as refusal_of
from engine.matching import Matcher
from tests.engine.export.targets.vllm_model import (
    BatchRequest,
    BatchUpdate,
    LogitsProcessor,
    MoveDirectionality,
    PersistentBatch,
    load_by_name,
    sampling_params,
    vllm_modules,
)

VOCABULARY = vocabulary()
EOS = 298
WIDTH = 320  # wider than the vocabulary
CPU = torch.device("cpu")
NESTED = ("gbnf", 'root ::= "(" root ")" | "[" (root ("," root)*)? "]" | [a-z]+')
DATES = ("regex", "[0-9]{2}-[a-c]{1,4}")
RECORD = ("json_schema", '{"type": "object", "properties": {"a": {"enum": ["x", 12]}, "b": {"type": "boolean"}}}')
KEY = "turnstile_grammar"


@pytest.fixture
def vllm(monkeypatch):
    for name, module in vllm_modules().items():
        monkeypatch.setitem(sys.modules, name, module)


@pytest.fixture(scope="module")
def packages(tmp_path_factory):
    """Plugins of three grammars in one folder, and the jobs that they were made of."""
    folder = tmp_path_factory.mktemp("plugins")
    jobs = {}
    for name, (notation, source) in {"nested": NESTED, "dates": DATES, "record": RECORD}.items():
        jobs[name] = job(notation, source, VOCABULARY, name)
        export("vllm", jobs[name], folder / name)
    return folder, jobs


@pytest.fixture
def loaded(vllm, packages):
    """The plugins' modules of the batch-level form, by the grammar's name."""
    folder, jobs = packages
    found = {}
    contexts = [imported(folder / name, f"turnstile_{name}.vllm_plugin") for name in jobs]
    for name, context in zip(jobs, contexts, strict=True):
        found[name] = context.__enter__()
    yield found
    for name, context in zip(jobs, contexts, strict=True):
        context.__exit__(None, None, None)
        for module in [one for one in sys.modules if one.startswith(f"turnstile_{name}")]:
            del sys.modules[module]


def processor(module):
    return module.GrammarLogitsProcessor(SimpleNamespace(), CPU, False)


def requests_of(name: str):
    return sys.modules[f"turnstile_{name}.vllm_requests"]


def asking(name: str | None, output=()) -> BatchRequest:
    return BatchRequest(sampling_params(extra_args={KEY: name} if name else None), list(output))


def allowed(row: torch.Tensor) -> list[int]:
    return torch.isfinite(row).nonzero().flatten().tolist()


def of_matcher(matcher: Matcher) -> list[int]:
    bits = np.unpackbits(matcher.bitmask().view(np.uint8), bitorder="little")
    return np.flatnonzero(bits).tolist() or [EOS]  # what is over may end again


class Follower:
    """What should come out for a request: its matcher, moved by what was really written."""

    def __init__(self, jobs, request: BatchRequest, name: str | None) -> None:
        self.request, self.name, self._jobs = request, name, jobs
        self._begin()

    def _begin(self) -> None:
        self.matcher = Matcher(self._jobs[self.name].compiled, VOCABULARY) if self.name else None
        for token_id in self.request.output:
            self._accept(token_id)

    def _accept(self, token_id: int) -> None:
        if self.matcher is not None and not self.matcher.is_finished:
            assert self.matcher.accept(token_id)

    def holds(self, row: torch.Tensor, before: torch.Tensor) -> None:
        assert not row.isnan().any()
        if self.matcher is None:
            assert torch.equal(row, before)
            return
        ids = of_matcher(self.matcher)
        assert allowed(row) == ids
        assert torch.equal(row[ids], before[ids])

    def write(self, token_id: int) -> None:
        self.request.output.append(token_id)
        self._accept(token_id)

    def take_back(self) -> None:
        """Some ids go, as when vLLM discards what it could not keep."""
        del self.request.output[-2:]
        self._begin()


class Run:
    """Steps of an engine: requests come, leave, come back, are moved and swapped, and write."""

    def __init__(self, jobs, processors, *, is_async: bool) -> None:
        self.jobs, self.is_async = jobs, is_async
        self.batch = PersistentBatch(processors)
        self.chance, self.generator = random.Random(5), torch.Generator().manual_seed(5)
        self.followers: dict[BatchRequest, Follower] = {}
        self.preempted: list[Follower] = []
        self.seen = Counter()

    def step(self) -> None:
        over = [index for index in range(len(self.batch.slots)) if self.chance.random() < 0.04]
        leaving = [self.followers.pop(self.batch.requests[index]) for index in over]
        self.preempted += [one for one in leaving if self.chance.random() < 0.3]
        new = self._arrivals(12 - len(self.followers))
        self.followers |= {one.request: one for one in new}
        size, times = len(self.followers), self.chance.choice([0, 0, 0, 1, 2])
        swaps = [tuple(self.chance.sample(range(size), 2)) for _ in range(times if size > 1 else 0)]
        self._note(self._change(over, [one.request for one in new], swaps), len(swaps))
        if self.batch.slots:
            self._decode()

    def _arrivals(self, room: int) -> list[Follower]:
        new: list[Follower] = []
        while len(new) < room and self.chance.random() < 0.3:
            if self.preempted and self.chance.random() < 0.5:
                old = self.preempted.pop()
                new.append(Follower(self.jobs, BatchRequest(old.request.params, list(old.request.output)), old.name))
                self.seen["resumed"] += 1
            else:
                name = self.chance.choice([None, *self.jobs])
                new.append(Follower(self.jobs, asking(name), name))
        return new

    def _change(self, over, new, swaps):
        """Tell of it; asynchronously, the last ids are placeholders meanwhile."""
        held_back = {}
        for request in self.batch.requests:
            if self.is_async and request in self.followers and request.output:
                held_back[request] = request.output[-1]
                request.output[-1] = -1
        update = self.batch.change(over, new, swaps)
        for request, token_id in held_back.items():
            request.output[-1] = token_id
        return update

    def _note(self, update, swaps: int) -> None:
        self.seen["no update" if update is None else "updates"] += 1
        moved = update.moved if update else ()
        self.seen["one-way"] += sum(one[2] is MoveDirectionality.UNIDIRECTIONAL for one in moved)
        self.seen["swaps"] += swaps

    def _decode(self) -> None:
        before = torch.randn(len(self.batch.slots), WIDTH, generator=self.generator)
        after = self.batch.process(before.clone())
        drawn = torch.multinomial(after.softmax(-1), 1, generator=self.generator).flatten().tolist()
        for request, row, old, token_id in zip(self.batch.requests, after, before, drawn, strict=True):
            follower = self.followers[request]
            follower.holds(row, old)
            if request.output and self.chance.random() < 0.01:
                follower.take_back()
                self.seen["taken back"] += 1
            else:
                follower.write(token_id)
                self.seen["ended"] += follower.matcher is not None and token_id == EOS
                self.seen["constrained"] += follower.matcher is not None


@pytest.mark.parametrize("is_async", [False, True], ids=["in step", "asynchronous"])
@pytest.mark.parametrize("level", ["batch", "request"])
def test_many_steps_of_a_batch_that_changes(loaded, packages, level, is_async):
    classes = [module.GrammarLogitsProcessor for module in loaded.values()]
    if level == "request":
        classes = [load_by_name(f"turnstile_{name}.vllm_request:GrammarRequestLogitsProcessor") for name in loaded]
    run = Run(packages[1], [one(SimpleNamespace(), CPU, False) for one in classes], is_async=is_async)
    for _ in range(500):
        run.step()
    assert min(run.seen.values()) > 5, run.seen
    assert len(run.seen) == 8
    assert run.seen["constrained"] > 1_000


def test_a_release_without_the_second_runner(packages, monkeypatch):
    for name, module in vllm_modules(second_runner=False).items():
        monkeypatch.setitem(sys.modules, name, module)
    folder, jobs = packages
    with imported(folder / "nested", "turnstile_nested.vllm_plugin") as module:
        one = module.GrammarLogitsProcessor
        assert one.__mro__[1] is LogitsProcessor
        run = Run({"nested": jobs["nested"]}, [processor(module)], is_async=False)
        for _ in range(100):
            run.step()
    for module in [name for name in sys.modules if name.startswith("turnstile_nested")]:
        del sys.modules[module]


def test_a_guide_that_forgets_is_asked_anew(loaded, packages, monkeypatch):
    for name in loaded:
        guide = type(requests_of(name).load_guide())
        known = guide.known_states.fget
        monkeypatch.setattr(guide, "known_states", property(lambda self, known=known: known(self) * 60_000))
    run = Run(packages[1], [processor(module) for module in loaded.values()], is_async=False)
    for _ in range(300):
        run.step()
    assert requests_of("nested").load_guide().generation > 10


def test_ids_that_are_taken_back_are_forgotten(loaded, packages):
    module = loaded["nested"]
    batch = PersistentBatch([processor(module)])
    request = asking("nested")
    batch.change(new=[request])
    before = batch.process(torch.zeros(1, WIDTH))
    request.output += [ord("("), ord("a")]
    batch.change()
    inside = batch.process(torch.zeros(1, WIDTH))
    assert allowed(inside[0]) != allowed(before[0])
    del request.output[:]
    batch.change()
    assert torch.equal(batch.process(torch.zeros(1, WIDTH)), before)
    request.output += [ord("("), ord("[")]
    batch.change()
    request.output[:] = [ord("("), ord("a")]
    batch.change()
    assert torch.equal(batch.process(torch.zeros(1, WIDTH)), inside)


def test_a_step_without_an_update_goes_on_from_the_list(loaded):
    one = processor(loaded["dates"])
    batch = PersistentBatch([one])
    request = asking("dates")
    batch.change(new=[request])
    before = allowed(batch.process(torch.zeros(1, WIDTH))[0])
    request.output.append(ord("1"))
    assert batch.change() is None
    request.output.append(ord("2"))
    assert batch.change() is None
    assert before != [ord("-")] == allowed(batch.process(torch.zeros(1, WIDTH))[0])


def test_an_update_holds_in_its_order(loaded):
    """Removed, added, moved: one index in all three, as a batch may well tell it."""
    one = processor(loaded["dates"])
    one.update_state(BatchUpdate(1, (), ((0, asking("dates").params, None, [ord("1"), ord("2")]),), ()))
    one.update_state(
        BatchUpdate(
            2,
            (0,),
            ((0, asking("dates").params, None, []), (1, asking(None).params, None, [])),
            ((0, 1, MoveDirectionality.SWAP), (1, 2, MoveDirectionality.UNIDIRECTIONAL)),
        )
    )
    out = one.apply(torch.zeros(3, WIDTH))
    assert [len(allowed(row)) for row in out] == [WIDTH, WIDTH, 11]  # the new request: ten digits and "00"


def test_a_server_that_nobody_asks_is_left_alone(loaded):
    module = loaded["dates"]
    one = processor(module)
    batch = PersistentBatch([one])
    batch.change(new=[asking(None), asking("nested")])
    logits = torch.zeros(2, WIDTH)
    assert batch.process(logits) is logits
    assert not logits.any()
    assert requests_of("dates").load_guide.cache_info().currsize == 0  # the grammar was not even read
    assert not one.is_argmax_invariant()
    assert one.needs_output_token_ids()


def test_placeholders_that_are_never_filled_in_end_the_output_and_tell(loaded, caplog):
    batch = PersistentBatch([processor(loaded["dates"])])
    request = asking("dates")
    batch.change(new=[request])
    request.output.append(-1)
    batch.change()
    with caplog.at_level("ERROR"):
        assert allowed(batch.process(torch.zeros(1, WIDTH))[0]) == [EOS]
    assert "--no-async-scheduling" in caplog.text
    request.output[0] = ord("1")
    assert len(allowed(batch.process(torch.zeros(1, WIDTH))[0])) == 10


def test_an_id_that_is_not_allowed_ends_the_output(loaded, caplog):
    batch = PersistentBatch([processor(loaded["dates"])])
    with caplog.at_level("ERROR"):
        batch.change(new=[asking("dates", [ord("x")])])
    assert "where it is not allowed" in caplog.text
    assert allowed(batch.process(torch.zeros(1, WIDTH))[0]) == [EOS]


@pytest.mark.parametrize("width", [280, 300, 320])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
def test_logits_of_any_width_and_type(loaded, width, dtype):
    batch = PersistentBatch([processor(loaded["dates"])])
    batch.change(new=[asking("dates"), asking(None), asking("dates")])
    logits = torch.zeros(3, width, dtype=dtype)
    out = batch.process(logits)
    digits = [number for number, token in enumerate(VOCABULARY.tokens) if token and token.isdigit()]
    assert allowed(out[0]) == allowed(out[2]) == [one for one in digits if one < width]
    assert len(allowed(out[1])) == width
    assert out.dtype == dtype


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"extra_args": {KEY: "dats"}}, r"turnstile_grammar is 'dats'; there is dates, nested, record"),
        ({"extra_args": {KEY: 1}}, "there is dates"),
        ({"extra_args": {KEY: "dates"}, "structured_outputs": object()}, "together with structured_outputs"),
        ({"extra_args": {KEY: "dates"}, "ignore_eos": True}, "together with ignore_eos"),
        ({"extra_args": {KEY: "dates"}, "min_tokens": 3}, "together with min_tokens"),
        ({"extra_args": {KEY: "dates"}, "allowed_token_ids": [1]}, "together with allowed_token_ids"),
        ({"extra_args": {KEY: "dates"}, "bad_words": ["x"]}, "together with bad_words"),
    ],
)
def test_a_request_that_cannot_be_served_is_refused(loaded, fields, message):
    with pytest.raises(ValueError, match=message):
        loaded["dates"].GrammarLogitsProcessor.validate_params(sampling_params(**fields))


@pytest.mark.parametrize("extra", [None, {}, {"other": 1}, {KEY: "dates"}, {KEY: "nested"}])
def test_other_requests_are_not(loaded, extra):
    loaded["dates"].GrammarLogitsProcessor.validate_params(sampling_params(extra_args=extra))
    loaded["dates"].GrammarLogitsProcessor.validate_params(sampling_params(extra_args=None, min_tokens=3))


def test_it_is_found_by_name_and_as_a_class(loaded):
    by_name = load_by_name("turnstile_nested.vllm_plugin:GrammarLogitsProcessor")
    assert by_name is loaded["nested"].GrammarLogitsProcessor
    assert issubclass(by_name, LogitsProcessor)


def test_the_package_is_what_the_readme_says(packages):
    folder, jobs = packages
    project = tomllib.loads((folder / "dates" / "pyproject.toml").read_text("utf-8"))
    assert project["project"]["entry-points"]["vllm.logits_processors"] == {
        "turnstile_dates": "turnstile_dates.vllm_plugin:GrammarLogitsProcessor"
    }
    body = json.loads((folder / "dates" / "request.json").read_text("utf-8"))
    assert body["vllm_xargs"] == {KEY: "dates"}
    readme = (folder / "dates" / "README.md").read_text("utf-8")
    for part in ("--logits-processors turnstile_dates.vllm_plugin:", '"turnstile_grammar": "dates"', "[0-9]{2}-[a-c]"):
        assert part in readme
    assert VOCABULARY.fingerprint in readme
    assert (
        jobs["dates"].compiled.source.text
        in json.loads((folder / "dates" / "turnstile_dates" / "grammar.json").read_text("utf-8")).values()
    )


def test_it_can_be_built_and_its_entry_point_is_in_the_wheel(packages, tmp_path):
    if importlib.util.find_spec("setuptools") is None:  # to import it here would replace distutils for all tests
        pytest.skip("needs setuptools, to build a wheel")
    built = "import sys, setuptools.build_meta as b; print(b.build_wheel(sys.argv[1]))"
    command = [sys.executable, "-W", "ignore", "-c", built, str(tmp_path)]
    done = subprocess.run(command, cwd=packages[0] / "nested", capture_output=True, text=True, check=True)
    with zipfile.ZipFile(tmp_path / done.stdout.split()[-1]) as wheel:
        names = wheel.namelist()
        entry = next(name for name in names if name.endswith("entry_points.txt"))
        assert "vllm.logits_processors" in wheel.read(entry).decode()
    for name in ("grammar.json", "vllm_plugin.py", "guide/pushdown.py", "masks.py"):
        assert f"turnstile_nested/{name}" in names


def test_a_vocabulary_without_an_end_is_refused():
    without = job("regex", "a", vocabulary(eos=False))
    assert "none" in refusal_of(target("vllm"), without)
    assert shows(refusal_of(target("vllm"), job("regex", r"a\bb", VOCABULARY)), "export.refusal.fragment.no_token")


def test_a_file_that_was_changed_is_found():
    of = job(*DATES, VOCABULARY, "dates")
    made = make("vllm", of)
    assert shows(check("vllm", made, of).sentence, "export.scope.vllm")
    for path, old, new in [
        ("turnstile_dates/masks.py", b'float("-inf")', b'float("inf")'),
        ("turnstile_dates/grammar.json", b'"bytes":[[48,57]]', b'"bytes":[[48,56]]'),
        ("request.json", b'"dates"', b'"date"'),
        ("pyproject.toml", b"turnstile_dates =", b"dates ="),
    ]:
        files = tuple((name, text.replace(old, new) if name == path else text) for name, text in made.files)
        assert files != made.files
        with pytest.raises(MismatchError):
            check("vllm", Artifact(files), of)
