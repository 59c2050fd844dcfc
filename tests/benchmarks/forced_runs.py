"""What it saves to take forced runs without asking the model, as Markdown.

    python tests/benchmarks/forced_runs.py [records] [smollm2] [--json]

Every strategy writes the same text, so that only its spelling and the calls differ: where the model is asked, it is
asked in earnest, and then drawn from among the tokens that go on with that text, the likeliest first. Schemas are in
compact white space and in one spelling of strings, as a server sends them. *Own* is how many tokens the tokenizer
itself writes the text in, with an end: what a model would be asked for without a grammar; under a mask it wanders into
smaller ones. *Model* is the time in the model, *all* the
whole time; the prompt was read before. *Index* is the token index of the first example, `{state: {token: next}}`.
SmolLM2 is left out where it is not in the user's cache.
"""

# ruff: noqa: T201 - a script for people; it makes a model forget what it was asked

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

import numpy as np  # noqa: E402 - the path comes first
from numpy.typing import NDArray  # noqa: E402

from engine.compile import CompiledGrammar, CompileOptions, compile_grammar  # noqa: E402
from engine.decoding import Finish, SamplerSettings  # noqa: E402
from engine.decoding.forced.lattice import Lattice  # noqa: E402
from engine.decoding.forced.strategies import STRATEGIES  # noqa: E402
from engine.decoding.forced.tokenizer_encoding import encode_with_tokenizer  # noqa: E402
from engine.decoding.forced.values import FastForwardGeneration  # noqa: E402
from engine.decoding.generate import CountedSource, generate_fast_forward  # noqa: E402
from engine.export import NumberSpelling, build_token_index, to_gbnf  # noqa: E402
from engine.models import LogitSource, load_model  # noqa: E402
from engine.models.smollm2 import is_installed  # noqa: E402
from engine.models.text_encoder import text_encoder_of  # noqa: E402
from engine.vocabulary import visible  # noqa: E402

MODELS = ("records", "smollm2")
TOKENS = 400


def closed(**properties: Any) -> dict[str, Any]:
    """An object with all of these properties and no others."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def text(most: int = 60) -> dict[str, Any]:
    return {"type": "string", "maxLength": most}


CALL = closed(
    name={"const": "get_current_weather"},
    arguments=closed(
        location=text(),
        unit={"enum": ["celsius", "fahrenheit"]},
        days={"type": "integer", "minimum": 1, "maximum": 14},
    ),
)
TICKET = closed(
    category={"enum": ["billing", "technical_issue", "account_access", "feature_request", "other"]},
    priority={"enum": ["low", "medium", "high", "critical"]},
    sentiment={"enum": ["positive", "neutral", "negative"]},
    requires_human_review={"type": "boolean"},
    summary=text(120),
)
INVOICE = closed(
    invoice_number={"type": "string", "pattern": "^INV-[0-9]{6}$"},
    issue_date={"type": "string", "pattern": "^20[0-9]{2}-[01][0-9]-[0-3][0-9]$"},
    currency={"enum": ["EUR", "USD", "GBP"]},
    line_items={
        "type": "array",
        "minItems": 1,
        "maxItems": 4,
        "items": closed(
            description=text(), quantity={"type": "integer", "minimum": 1}, unit_price_cents={"type": "integer"}
        ),
    },
    total_cents={"type": "integer"},
)
EVENT = closed(
    event_type={"enum": ["meeting", "deadline", "reminder"]},
    title=text(),
    start_time={"type": "string", "pattern": "^[0-2][0-9]:[0-5][0-9]$"},
    duration_minutes={"enum": [15, 30, 45, 60, 90]},
    attendees={"type": "array", "items": text(30), "minItems": 1, "maxItems": 3},
    is_recurring={"type": "boolean"},
)
REVIEW = closed(
    file_path=text(),
    line_number={"type": "integer", "minimum": 1},
    severity={"enum": ["info", "warning", "error"]},
    rule_identifier={"enum": ["unused-import", "missing-docstring", "line-too-long", "unreachable-code"]},
    suggested_replacement={"anyOf": [text(80), {"type": "null"}]},
    is_auto_fixable={"type": "boolean"},
)


@dataclass(frozen=True)
class Example:
    name: str
    schema: dict[str, Any]
    prompt: str
    value: dict[str, Any]


PEOPLE = Example(
    "John or Paul",
    closed(name={"enum": ["John", "Paul"]}, age={"enum": [20, 30]}),
    "A person, as JSON:\n",
    {"name": "John", "age": 20},
)
EXAMPLES = (
    PEOPLE,
    Example(
        "function call",
        CALL,
        "What will the weather be in Paris? Call:\n",
        {
            "name": "get_current_weather",
            "arguments": {"location": "Paris, France", "unit": "celsius", "days": 3},
        },
    ),
    Example(
        "support ticket",
        TICKET,
        "I was charged twice and nobody answers! As a ticket:\n",
        {
            "category": "billing",
            "priority": "high",
            "sentiment": "negative",
            "requires_human_review": True,
            "summary": "The customer was charged twice.",
        },
    ),
    Example(
        "invoice",
        INVOICE,
        "Invoice 204417 of 3 May for two lamps, as JSON:\n",
        {
            "invoice_number": "INV-204417",
            "issue_date": "2026-05-03",
            "currency": "EUR",
            "line_items": [
                {"description": "Desk lamp", "quantity": 2, "unit_price_cents": 4950},
                {"description": "Shipping", "quantity": 1, "unit_price_cents": 590},
            ],
            "total_cents": 10490,
        },
    ),
    Example(
        "calendar event",
        EVENT,
        "Weekly planning with Ann and Paul at ten, as JSON:\n",
        {
            "event_type": "meeting",
            "title": "Weekly planning",
            "start_time": "10:00",
            "duration_minutes": 60,
            "attendees": ["Ann", "Paul"],
            "is_recurring": True,
        },
    ),
    Example(
        "code review",
        REVIEW,
        "import os is never used in app/main.py, as JSON:\n",
        {
            "file_path": "app/main.py",
            "line_number": 3,
            "severity": "warning",
            "rule_identifier": "unused-import",
            "suggested_replacement": None,
            "is_auto_fixable": True,
        },
    ),
)


class Told(CountedSource):
    """A model that is asked in earnest and then writes one text, in tokens of its choice."""

    def __init__(self, source: LogitSource, prompt: str, written: bytes) -> None:
        super().__init__(source)
        self._prompt = len(source.encode(prompt))
        self._lattice = Lattice.of(written, source.vocabulary)
        self.vocabulary = source.vocabulary

    def logits(self, ids: Sequence[int]) -> NDArray[np.float32]:
        said = super().logits(ids)
        at = len(b"".join(self.vocabulary.tokens[token_id] or b"" for token_id in ids[self._prompt :]))
        if at == len(self._lattice.data):
            onward = sorted(self.vocabulary.eos_ids)
        else:
            onward = [token_id for end, token_id in self._lattice.edges[at] if self._lattice.ways[end]]
        told = np.full_like(said, -np.inf)
        told[onward] = said[onward]
        return told


def grammar_of(example: Example) -> CompiledGrammar:
    schema = compile_grammar("json_schema", json.dumps(example.schema), CompileOptions(whitespace="compact"))
    return compile_grammar("gbnf", to_gbnf(schema, NumberSpelling.PLAIN).text)


def text_of(example: Example) -> bytes:
    return json.dumps(example.value, separators=(",", ":")).encode()


def own_tokens(example: Example, model: LogitSource) -> int:
    """How many tokens the tokenizer writes the text in, and an end."""
    ids = encode_with_tokenizer(text_of(example), model.vocabulary, text_encoder_of(model))
    assert ids is not None
    return len(ids) + 1


def measured(example: Example, model: LogitSource, strategy: str) -> FastForwardGeneration:
    grammar = grammar_of(example)
    written = text_of(example)
    assert grammar.fullmatch(written), example.name
    told: Any = Told(model, example.prompt, written)
    forget(model)
    model.logits(model.encode(example.prompt))
    greedy = SamplerSettings(temperature=0)
    made = generate_fast_forward(grammar, told, strategy, prompt=example.prompt, sampler=greedy, max_tokens=TOKENS)
    assert made.generation.output == written, (made.generation.text, written)
    assert made.generation.finish is Finish.STOP
    return made


def forget(model: Any) -> None:
    """Make a source answer anew."""
    model.clear_cache()


def print_index(model: LogitSource) -> None:
    grammar = grammar_of(PEOPLE)
    index = build_token_index(grammar, model.vocabulary)
    print(f"\nIndex of {PEOPLE.name!r} over {model.name}:\n\n```")
    for state, (ids, targets) in enumerate(zip(index.tokens, index.targets, strict=True)):
        row = ", ".join(f"{token_id}: {after}" for token_id, after in zip(ids.tolist(), targets.tolist(), strict=True))
        words = " ".join(visible(model.vocabulary.tokens[token_id] or b"") for token_id in ids.tolist())
        print(f"{state}: {{{row}}}  {words}".rstrip())
    print("```")


def main(arguments: Sequence[str]) -> None:
    names = [name for name in MODELS if name in arguments] or list(MODELS)
    found = []
    for name in names:
        if name == "smollm2" and not is_installed():
            print("SmolLM2 is not in the cache and left out.")
            continue
        model = load_model(name)
        measured(PEOPLE, model, "longest")  # what is loaded with its first use
        print(f"\n**{model.name}**\n")
        print("| text | own | strategy | tokens | calls | saved | saved of own | model s | all s | time saved |")
        print("|---|---|---|---|---|---|---|---|---|---|")
        for example in EXAMPLES:
            own = own_tokens(example, model)
            before = None
            for strategy in STRATEGIES.names:
                made = measured(example, model, strategy)
                before = before or made
                saved = 1 - made.calls / before.calls
                faster = 1 - made.seconds / before.seconds
                print(
                    f"| {example.name} | {own} | {strategy} | {len(made.generation.steps)} | "
                    f"{made.calls} | {saved:.0%} | {1 - made.calls / own:.0%} | "
                    f"{made.model_seconds:.2f} | {made.seconds:.2f} | {faster:.0%} |",
                    flush=True,
                )
                found.append((model.name, example.name, strategy.value, made.calls, made.model_seconds, made.seconds))
        print_index(model)
    if "--json" in arguments:
        print(json.dumps(found))


if __name__ == "__main__":
    main(sys.argv[1:])
