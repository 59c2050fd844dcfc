"""Counts how often the record model writes valid JSON of its own accord.

`python -m resources.models.evaluate` samples 100 continuations of the prompt, free and
unconstrained (temperature 1, no filter), and prints how many begin with an object that
`json.loads` takes.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

FOLDER = Path(__file__).parent / "records"
PROMPT = "A character named Paul, aged 20, as JSON:"


def begins_with_object(text: str) -> bool:
    """Whether the text, after white space, begins with a JSON object."""
    try:
        value, _ = json.JSONDecoder().raw_decode(text.lstrip())
    except json.JSONDecodeError:
        return False
    return isinstance(value, dict)


@torch.no_grad()
def samples(folder: Path, prompt: str, count: int, max_tokens: int) -> list[str]:
    """Return one continuation for each seed from 0, drawn from the whole distribution at every token.

    Args:
        folder: the folder of the model.
        prompt: the text that is continued.
        count: the number of seeds.
        max_tokens: the largest number of tokens of a continuation.
    """
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).train(mode=False)
    ids = torch.tensor([tokenizer(prompt)["input_ids"]] * count)
    draws = [torch.Generator().manual_seed(seed) for seed in range(count)]
    written: list[list[int]] = [[] for _ in range(count)]
    cache = None
    for _ in range(max_tokens):
        output = model(ids, past_key_values=cache, use_cache=True)
        cache = output.past_key_values
        shares = torch.softmax(output.logits[:, -1].float(), dim=-1)
        ids = torch.stack([torch.multinomial(p, 1, generator=draw) for p, draw in zip(shares, draws, strict=True)])
        for row, token_id in zip(written, ids[:, 0].tolist(), strict=True):
            row.append(token_id)
    return [_until_end(str(tokenizer.decode(row)), tokenizer.eos_token) for row in written]


def valid_objects(folder: Path = FOLDER, count: int = 100) -> int:
    """How many of `count` seeds begin with a JSON object."""
    return sum(begins_with_object(text) for text in samples(folder, PROMPT, count, max_tokens=120))


def main() -> None:
    """Print a few samples and the count."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, nargs="?", default=FOLDER)
    parser.add_argument("--prompt", default=PROMPT)
    parser.add_argument("--count", type=int, default=100)
    arguments = parser.parse_args()
    texts = samples(arguments.folder, arguments.prompt, arguments.count, max_tokens=120)
    for text in texts[:5]:
        print(text.strip())
    print(f"{sum(map(begins_with_object, texts))} of {arguments.count} seeds begin with a JSON object")


def _until_end(text: str, end: str | None) -> str:
    return text.split(end, 1)[0] if end else text


if __name__ == "__main__":
    main()
