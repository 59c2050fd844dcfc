"""Trains the record model: JSON records, dates, e-mails and plain English after a prompt.

`python -m resources.models.train_records alice29.txt` writes `resources/models/records`.
The text is what `records_text` makes, and the prose of the books that are named: Alice's
Adventures in Wonderland as the source archive of PyPI's `Brotli==1.1.0` carries it
(`tests/testdata/alice29.txt`, in the public domain).

The tokenizer is a byte-level BPE with GPT-2's splitting, so that tokens such as ` {"` and
`",` straddle what a grammar keeps apart, as they do in large models. `<|endoftext|>`
stands before every document and so also ends it, as in GPT-2; the tokenizer puts it
before a prompt.
"""

from __future__ import annotations

import argparse
import random
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

import torch
from tokenizers import Tokenizer, decoders, pre_tokenizers
from tokenizers.models import BPE
from tokenizers.processors import TemplateProcessing
from tokenizers.trainers import BpeTrainer
from transformers import PreTrainedTokenizerFast

from resources.models.evaluate import valid_objects
from resources.models.records_text import documents, paragraphs
from resources.models.training import Recipe, Shape, TrainingResult, build, save_folder, sizes, train, write_measured

FOLDER = Path(__file__).parent / "records"
SHAPE = Shape(width=192, layers=5, heads=6, inner=512)
RECIPE = Recipe(steps=600, batch_tokens=4096)
END = "<|endoftext|>"
VOCABULARY_SIZE = 2048
DOCUMENTS = 100_000
PROSE_REPEATS = 6


def split_books(books: Iterable[str]) -> tuple[list[str], list[str]]:
    """Runs of six paragraphs: those to train on, and the last tenth of each book, held out."""
    train_runs: list[str] = []
    valid_runs: list[str] = []
    for book in books:
        lines = paragraphs(book)
        runs = ["\n".join(lines[i : i + 6]) for i in range(0, len(lines), 6)]
        cut = len(runs) * 9 // 10
        train_runs += runs[:cut]
        valid_runs += runs[cut:]
    return train_runs, valid_runs


def train_tokenizer(texts: Iterable[str]) -> Tokenizer:
    """A byte-level BPE of `VOCABULARY_SIZE` tokens, the end of text among them."""
    tokenizer = Tokenizer(BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = BpeTrainer(
        vocab_size=VOCABULARY_SIZE,
        special_tokens=[END],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    end_id = tokenizer.token_to_id(END)
    tokenizer.post_processor = TemplateProcessing(
        single=f"{END} $A", pair=f"{END} $A $B", special_tokens=[(END, end_id)]
    )
    return tokenizer


def token_string(tokenizer: Tokenizer, texts: Sequence[str], seed: int) -> torch.Tensor:
    """Return all documents in a random order, each after an end of text.

    Args:
        tokenizer: encodes the documents.
        texts: the documents.
        seed: the seed of the order.

    Returns:
        int64[n]: the ids.
    """
    shuffled = random.Random(seed).sample(texts, len(texts))
    encodings = tokenizer.encode_batch(shuffled)
    return torch.tensor([i for encoding in encodings for i in encoding.ids])


def card(outcome: TrainingResult, parameters: int, architecture: str, tokens: int, valid: int) -> str:
    """Return the model card.

    Args:
        outcome: the measured training.
        parameters: the number of parameters of the model.
        architecture: its shape in words.
        tokens: the number of tokens of the training text.
        valid: how many of 100 seeds begin with valid JSON.
    """
    return f"""---
license: apache-2.0
library_name: transformers
---
# Turnstile's record model

Writes JSON records, dates, e-mail addresses, codes and plain English after a prompt such as
`A character named Paul, aged 20, as JSON:`, `Contact e-mail:`, `ISO date:` or `Q: What is 3 + 4?`. It is here so that
grammars for structured output have something real to constrain, offline.

- **Data**: {DOCUMENTS:,} short documents made by `resources/models/records_text.py` (templates of our own, names from
  Faker, MIT; e-mail addresses, sites and telephone numbers are from the ranges reserved for examples), and *Alice's
  Adventures in Wonderland* (public domain) {PROSE_REPEATS} times; together {tokens:,} tokens.
- **Vocabulary**: byte-level BPE, {VOCABULARY_SIZE:,} tokens, `{END}` (id 0) begins and ends a document.
- **Architecture**: {architecture}.
- **Size**: {parameters:,} parameters in float16.
- **Loss**: {outcome.valid_loss:.3f} nats per token held out, {outcome.train_loss:.3f} on as much of the training text.
- **Unconstrained JSON**: after `A character named Paul, aged 20, as JSON:`, at temperature 1 and without filters,
  {valid} of 100 seeds begin with an object that `json.loads` takes (`python -m resources.models.evaluate`).
- **Licence**: the weights are Apache-2.0, as Turnstile is.
- **Made by**: `python -m resources.models.train_records alice29.txt` from the repository's root, the text from
  `tests/testdata` in the source archive of PyPI's `Brotli==1.1.0` (seed {RECIPE.seed},
  {RECIPE.steps} steps of {RECIPE.batch_tokens:,} tokens, {outcome.minutes:.0f} minutes on one shared CPU core).

It knows no facts beyond a few capitals and small sums. Nothing it writes is true or useful.
"""


def main() -> None:
    """Train, measure and write the folder."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "books", type=Path, nargs="+", help="public-domain prose, UTF-8, a blank line between paragraphs"
    )
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--checkpoint", type=Path, default=Path(tempfile.gettempdir()) / "records.checkpoint")
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    prose, held_prose = split_books(book.read_text(encoding="utf-8") for book in arguments.books)
    texts = [*documents(DOCUMENTS, RECIPE.seed), *(prose * PROSE_REPEATS)]
    held = [*documents(1500, RECIPE.seed + 1), *held_prose]
    raw = train_tokenizer(texts)
    data, valid = token_string(raw, texts, RECIPE.seed), token_string(raw, held, RECIPE.seed)
    print(f"{data.numel():,} tokens to train on, {valid.numel():,} held out", flush=True)
    end_id = raw.token_to_id(END)
    tokenizer = PreTrainedTokenizerFast(  # type: ignore[no-untyped-call] # transformers types only its models
        tokenizer_object=raw,
        bos_token=END,
        eos_token=END,
        model_max_length=SHAPE.context,
        clean_up_tokenization_spaces=False,
    )
    model = build(SHAPE, raw.get_vocab_size(), end_id, RECIPE.seed)
    outcome = train(model, data, valid, RECIPE, arguments.checkpoint)
    parameters, architecture = sizes(model)
    save_folder(FOLDER, model, tokenizer, "", end_id)
    good = valid_objects(FOLDER)
    (FOLDER / "README.md").write_text(card(outcome, parameters, architecture, data.numel(), good), encoding="utf-8")
    measured = {
        "parameters": parameters,
        "train_loss": outcome.train_loss,
        "valid_loss": outcome.valid_loss,
        "valid_objects_of_100": good,
    }
    write_measured(FOLDER, measured)
    print(f"{parameters:,} parameters, held-out loss {outcome.valid_loss:.4f}, {good} of 100 objects, in {FOLDER}")


if __name__ == "__main__":
    main()
