"""Trains the character model: Tiny Shakespeare's 65 characters, one token each.

`python -m resources.models.train_shakespeare TINYSHAKESPEARE.TXT` writes
`resources/models/shakespeare`. The text is split as nanoGPT does (first nine tenths
to train, the rest held out), so that the loss can be held against its 1.47 (10 million
parameters, on a GPU) and 1.88 (0.8 million, on a CPU).

The vocabulary is the characters in code point order, and nothing else: no special
token, so no end of text. A BPE tokenizer without merges is what spells that in a
`tokenizer.json` that every reader of the format understands.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import torch
from tokenizers import Tokenizer, decoders
from tokenizers.models import BPE
from transformers import PreTrainedTokenizerFast

from resources.models.training import Recipe, Shape, TrainingResult, build, save_folder, sizes, train, write_measured

FOLDER = Path(__file__).parent / "shakespeare"
SHAPE = Shape(width=160, layers=4, heads=5, inner=432)
RECIPE = Recipe(steps=900)


def character_tokenizer(text: str, context: int) -> PreTrainedTokenizerFast:
    """One token per character of the text, in code point order."""
    characters = sorted(set(text))
    tokenizer = Tokenizer(BPE(vocab={char: i for i, char in enumerate(characters)}, merges=[]))
    tokenizer.decoder = decoders.Fuse()
    return PreTrainedTokenizerFast(  # type: ignore[no-untyped-call] # transformers types only its models
        tokenizer_object=tokenizer, model_max_length=context, clean_up_tokenization_spaces=False
    )


def card(outcome: TrainingResult, parameters: int, architecture: str, characters: int) -> str:
    """Return the model card.

    Args:
        outcome: the measured training.
        parameters: the number of parameters of the model.
        architecture: its shape in words.
        characters: the number of characters of the training text.
    """
    return f"""---
license: apache-2.0
library_name: transformers
---
# Turnstile's character model

Writes like Shakespeare, one character at a time. It is here so that a grammar can be stepped through a real model
in the first second, offline: `[A-Z]+: [a-z]+\\n` is its natural grammar.

- **Data**: Tiny Shakespeare (Andrej Karpathy's excerpt of the plays, {characters:,} characters; the text is in the
  public domain). First nine tenths trained on, last tenth held out.
- **Vocabulary**: the text's 65 characters, no special tokens, so it has no end-of-text token.
- **Architecture**: {architecture}.
- **Size**: {parameters:,} parameters in float16.
- **Loss**: {outcome.valid_loss:.3f} nats per character held out, {outcome.train_loss:.3f} on as much of the
  training text.
- **Licence**: the weights are Apache-2.0, as Turnstile is.
- **Made by**: `python -m resources.models.train_shakespeare tinyshakespeare.txt` from the repository's root
  (seed {RECIPE.seed}, {RECIPE.steps} steps of {RECIPE.batch_tokens:,} characters,
  {outcome.minutes:.0f} minutes on one shared CPU core).

It knows nothing but the plays, and that only by sound. Nothing it writes is true or useful.
"""


def main() -> None:
    """Train and write the folder."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("text", type=Path, help="tinyshakespeare.txt")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--checkpoint", type=Path, default=Path(tempfile.gettempdir()) / "shakespeare.checkpoint")
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    text = arguments.text.read_text(encoding="utf-8")
    tokenizer = character_tokenizer(text, SHAPE.context)
    numbers = tokenizer.get_vocab()
    ids = torch.tensor([numbers[char] for char in text])
    cut = ids.numel() * 9 // 10
    model = build(SHAPE, len(numbers), None, RECIPE.seed)
    outcome = train(model, ids[:cut], ids[cut:], RECIPE, arguments.checkpoint)
    parameters, architecture = sizes(model)
    save_folder(FOLDER, model, tokenizer, card(outcome, parameters, architecture, len(text)), None)
    measured = {"parameters": parameters, "train_loss": outcome.train_loss, "valid_loss": outcome.valid_loss}
    write_measured(FOLDER, measured)
    print(f"{parameters:,} parameters, held-out loss {outcome.valid_loss:.4f}, in {FOLDER}")


if __name__ == "__main__":
    main()
