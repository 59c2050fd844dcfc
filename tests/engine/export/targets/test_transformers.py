"""The logits processor for transformers, as `generate` drives it, on the bundled model."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest
import torch
from exports import guide, imported, job, vocabulary

from engine.compile import CompileOptions, compile_grammar
from engine.export.runtimes.transformers_generate import GrammarLogitsProcessor, GrammarStoppingCriteria
from engine.export.target import ExportJob, ExportOptions
from engine.export.writing import export, make
from engine.matching import Matcher
from engine.models.sources.bundled import bundled_folder
from engine.vocabulary import Vocabulary

SCHEMA = {
    "type": "object",
    "properties": {"name": {"enum": ["John", "Paul"]}, "age": {"type": "integer", "minimum": 0, "maximum": 99}},
    "required": ["name", "age"],
    "additionalProperties": False,
}
NESTED = 'root ::= "(" root ")" | "[" root ("," root)* "]" | [a-z]+'
PROMPTS = ["A character named Paul, aged 20, as JSON: ", "A date: "]


@pytest.fixture(scope="module")
def records():
    """Model, tokenizer and vocabulary of the bundled model."""
    from transformers import AutoModelForCausalLM, AutoTokenizer

    folder = bundled_folder("records")
    tokenizer = AutoTokenizer.from_pretrained(folder, padding_side="left")
    tokenizer.pad_token = tokenizer.eos_token
    return AutoModelForCausalLM.from_pretrained(folder).eval(), tokenizer, Vocabulary.from_tokenizer(folder)


@pytest.fixture(scope="module", params=["json_schema", "gbnf", "regex"])
def case(request, records, tmp_path_factory):
    """A package that was exported for the model, imported, and the grammar behind it."""
    source = {"json_schema": json.dumps(SCHEMA), "gbnf": NESTED, "regex": r"[0-9]{4}-[0-9]{2}"}[request.param]
    compiled = compile_grammar(request.param, source, CompileOptions(whitespace="compact"))
    folder = tmp_path_factory.mktemp("transformers") / "out"
    name = f"case {request.param}"
    export("transformers", ExportJob(compiled, records[2], ExportOptions(name=name)), folder)
    with imported(folder, f"turnstile_case_{request.param}") as package:
        yield compiled, package


def outputs(records, rows: torch.Tensor, length: int) -> list[list[int]]:
    """What was generated in each row, without filling and end."""
    end = records[1].eos_token_id
    return [row[: row.index(end)] if end in row else row for row in rows[:, length:].tolist()]


def is_prefix(compiled, vocabulary: Vocabulary, ids: list[int]) -> bool:
    matcher = Matcher(compiled, vocabulary)
    return all(map(matcher.accept, ids))


WAYS = {
    "greedy": {"do_sample": False},
    "sampling": {"do_sample": True, "temperature": 1.5, "num_return_sequences": 3},
    "beams": {"do_sample": False, "num_beams": 4},
    "all beams": {"do_sample": False, "num_beams": 4, "num_return_sequences": 2},
    "sampled beams": {"do_sample": True, "num_beams": 3, "temperature": 1.3},
    "cut off": {"do_sample": True, "max_new_tokens": 4},
}


@pytest.mark.parametrize("way", WAYS)
def test_what_generate_writes_matches(case, records, way):
    compiled, package = case
    model, tokenizer, of = records
    inputs = tokenizer(PROMPTS, return_tensors="pt", padding=True, return_token_type_ids=False)
    told = {"max_new_tokens": 60, "pad_token_id": tokenizer.eos_token_id, **WAYS[way]}
    torch.manual_seed(1)
    rows = model.generate(**inputs, **told, logits_processor=[package.GrammarLogitsProcessor()])
    for row, ids in zip(rows.tolist(), outputs(records, rows, inputs["input_ids"].shape[1]), strict=True):
        assert is_prefix(compiled, of, ids), tokenizer.decode(row)
        ended = tokenizer.eos_token_id in row[inputs["input_ids"].shape[1] :]
        assert compiled.fullmatch(b"".join(of.tokens[one] or b"" for one in ids)) or not ended
        assert ended or len(ids) == told["max_new_tokens"]


def test_one_object_serves_one_generation_after_the_other(case, records):
    compiled, package = case
    model, tokenizer, of = records
    grammar = package.GrammarLogitsProcessor()
    for prompt in [*PROMPTS, PROMPTS[0], "x"]:
        inputs = tokenizer(prompt, return_tensors="pt", return_token_type_ids=False)
        rows = model.generate(
            **inputs, max_new_tokens=7, logits_processor=[grammar], pad_token_id=tokenizer.eos_token_id
        )
        assert is_prefix(compiled, of, outputs(records, rows, inputs["input_ids"].shape[1])[0])


def greedy_by_hand(model, compiled, of: Vocabulary, ids: list[int], steps: int) -> list[int]:
    """The same with a matcher and the model alone."""
    matcher = Matcher(compiled, of)
    made: list[int] = []
    for _ in range(steps):
        logits = model(torch.tensor([[*ids, *made]])).logits[0, -1]
        allowed = torch.tensor([matcher.is_allowed(one) for one in range(logits.shape[0])])
        best = int(logits.masked_fill(~allowed, float("-inf")).argmax())
        matcher.accept(best)
        if best in of.eos_ids:
            break
        made.append(best)
    return made


@torch.no_grad()
def test_greedy_is_what_the_engine_and_the_model_give(case, records):
    compiled, package = case
    model, tokenizer, of = records
    for prompt in PROMPTS:
        inputs = tokenizer(prompt, return_tensors="pt", return_token_type_ids=False)
        rows = model.generate(
            **inputs,
            max_new_tokens=20,
            do_sample=False,
            logits_processor=[package.GrammarLogitsProcessor()],
            pad_token_id=tokenizer.eos_token_id,
        )
        length = inputs["input_ids"].shape[1]
        by_hand = greedy_by_hand(model, compiled, of, inputs["input_ids"][0].tolist(), 20)
        assert outputs(records, rows, length)[0] == by_hand


# ---------------------------------------------------------------------- the processor by itself

VOCABULARY = vocabulary()
PROMPT = [[1, 2], [3, 4]]


def allowed(row: torch.Tensor) -> list[int]:
    return torch.isfinite(row).nonzero().flatten().tolist()


def rows(*ids: list[int]) -> torch.Tensor:
    return torch.tensor(ids)


def test_beams_are_known_by_their_ids():
    grammar = GrammarLogitsProcessor(guide(job("regex", "a(bc|cb)|(x|y)z", VOCABULARY)))
    first = grammar(rows([1, 2], [1, 2], [3, 4]), torch.zeros(3, 300))
    assert allowed(first[0]) == allowed(first[2])
    a, b, c, x, z = (ord(one) for one in "abcxz")
    second = grammar(rows([1, 2, a], [1, 2, x], [3, 4, x]), torch.zeros(3, 300))
    assert {b, c} <= set(allowed(second[0]))
    assert allowed(second[1]) == allowed(second[2]) == [z]
    third = grammar(rows([1, 2, a, b], [1, 2, a, c], [3, 4, x, z]), torch.zeros(3, 300))  # both from the first beam
    assert [allowed(row) for row in third] == [[c], [b], [298]]


def test_a_row_that_is_over_or_lost_keeps_numbers():
    grammar = GrammarLogitsProcessor(guide(job("regex", "ab", VOCABULARY)))
    grammar(rows(*PROMPT), torch.zeros(2, 300))
    grammar(rows([1, 2, 257], [3, 4, 9]), torch.zeros(2, 300))
    for _ in range(2):
        out = grammar(rows([1, 2, 256, 298], [3, 4, 9, 298]), torch.zeros(2, 300))
    grammar.reset()
    grammar = GrammarLogitsProcessor(guide(job("regex", "ab", VOCABULARY)), prompt_length=2)
    out = grammar(rows([1, 2, 256, 298, 0, 0], [3, 4, 9, 298, 0, 0]), torch.zeros(2, 300))
    assert [allowed(row) for row in out] == [[298], [298]]
    assert not out.softmax(-1).isnan().any()


@pytest.mark.parametrize("width", [280, 300, 333])
def test_scores_of_any_width(width):
    grammar = GrammarLogitsProcessor(guide(job("regex", "[0-9]", VOCABULARY)))
    out = grammar(rows([1]), torch.zeros(1, width, dtype=torch.float16))
    assert allowed(out[0]) == list(range(ord("0"), ord("9") + 1))
    assert out.shape == (1, width)


def test_without_an_end_token_a_criterion_stops():
    of = vocabulary(eos=False)
    grammar = GrammarLogitsProcessor(guide(job("regex", "ab?", of)))
    over = GrammarStoppingCriteria(grammar)
    grammar(rows([1], [2]), torch.zeros(2, 300))
    a, b = ord("a"), ord("b")
    assert over(rows([1, a], [2, 256]), torch.zeros(0)).tolist() == [False, True]
    out = grammar(rows([1, a], [2, 256]), torch.zeros(2, 300))
    assert allowed(out[0]) == [b]
    assert len(allowed(out[1])) == 1  # filling, which generate() does not return
    assert over(rows([1, a, b], [2, 256, 0]), torch.zeros(0)).tolist() == [True, True]
    with pytest.raises(ValueError, match="GrammarStoppingCriteria"):
        grammar(rows([1, a, b], [2, 256, 0]), torch.zeros(2, 300))


def test_it_stands_in_the_readme():
    without = make("transformers", job("regex", "a", vocabulary(eos=False), "x"))
    assert b"stopping_criteria=[GrammarStoppingCriteria(grammar)]" in without.file("README.md")
    assert b"stopping_criteria" not in make("transformers", job("regex", "a", VOCABULARY, "x")).file("README.md")


def test_it_runs_where_there_is_no_turnstile(tmp_path):
    export("transformers", job("gbnf", NESTED, VOCABULARY, "alone"), tmp_path / "out")
    script = (
        "import sys\n"
        "sys.modules['engine'] = None\n"  # an import of it fails
        "sys.path.insert(0, sys.argv[1])\n"
        "import torch\n"
        "from turnstile_alone import GrammarLogitsProcessor\n"
        "out = GrammarLogitsProcessor()(torch.tensor([[5]]), torch.zeros(1, 310))\n"
        "print(torch.isfinite(out).sum().item())\n"
    )
    command = [sys.executable, "-I", "-c", script, str(tmp_path / "out")]
    done = subprocess.run(
        command, capture_output=True, text=True, check=True, env={**os.environ, "HF_HUB_OFFLINE": "1"}, cwd=tmp_path
    )
    first = guide(job("gbnf", NESTED, VOCABULARY))
    assert int(done.stdout) == len(first.allowed(first.start))
