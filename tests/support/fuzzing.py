"""What any input to a front end must come to, and inputs that are nearly right.

Text that is drawn at random dies at the first character. So most inputs here are
made of a notation's own words, put together without sense, or of real grammars
with something exchanged.

`FUZZ_EXAMPLES=20000 python -m pytest tests/engine/fuzz` looks longer than the ordinary run does.
"""

from __future__ import annotations

import json
import os
import random
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from brute_force import brute_force
from corpora import cases
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from engine import CompileOptions, Matcher, Vocabulary, compile_grammar
from engine.compile import CompiledGrammar
from engine.source import Diagnostic, GrammarError, LimitExceededError, Limits, Severity
from engine.vocabulary import VocabularyError

# A search that comes to nothing takes seconds under the default limits, and is none of a front end's business.
LIMITS = Limits(configurations=4_000, search=400, threads=1_000)
STEPS = 6
EXAMPLES = int(os.environ.get("FUZZ_EXAMPLES", "0"))

_WORDS = [
    b"ab",
    b"null",
    b"true",
    b'"a"',
    b'{"',
    b'":',
    b", ",
    b'",\n',
    b"[[",
    b"]]",
    b"00",
    b"1e5",
    "é".encode(),
    b"\xc3",
]
_TOKENS = [*(bytes((byte,)) for byte in range(128)), *_WORDS, b"a", None, b"", b"</s>"]
VOCABULARY = Vocabulary(_TOKENS, eos_ids=[len(_TOKENS) - 1])


def fuzz(examples: int) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """What makes a fuzz test: so many examples in an ordinary run; in a long one nothing ends it before it is done."""
    chosen = settings(
        max_examples=EXAMPLES or examples,
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
    )
    return lambda test: pytest.mark.timeout(0)(chosen(test)) if EXAMPLES else chosen(test)


def compiles_or_is_refused(notation: str, text: str, options: CompileOptions | None = None) -> CompiledGrammar | None:
    """The grammar, or None where it is refused; anything else that happens is a failure."""
    options = options or CompileOptions(limits=LIMITS)
    try:
        grammar = compile_grammar(notation, text, options)
    except GrammarError as error:
        assert any(found.severity is Severity.ERROR for found in error.diagnostics)  # noqa: PT017
        _are_sound(error.diagnostics, text)
        return None
    assert not any(found.severity is Severity.ERROR for found in grammar.diagnostics)
    _are_sound(grammar.diagnostics, text)
    return grammar


def _are_sound(diagnostics: Sequence[Diagnostic], text: str) -> None:
    for found in diagnostics:
        assert found.code
        assert found.message
        assert found.span.end <= len(text)


def can_be_walked(grammar: CompiledGrammar, seed: int, steps: int = STEPS) -> None:
    """A random walk: every mask is what brute force says, and nothing but a limit stops a step."""
    choose = random.Random(seed)
    try:
        matcher = Matcher(grammar, VOCABULARY)
    except VocabularyError:  # the grammar names a token that is not there
        assert grammar.automaton.token_elements
        return
    try:
        for _ in range(steps):
            mask = matcher.bitmask()
            if not grammar.automaton.token_elements:  # bytes alone decide
                assert mask.tolist() == brute_force(grammar, matcher).tolist()
            allowed = [i for i in range(VOCABULARY.size) if mask[i >> 5] >> (i & 31) & 1]
            forbidden = choose.randrange(VOCABULARY.size)
            if forbidden not in allowed:
                matcher.explain(forbidden)
                assert not matcher.accept(forbidden)
            if not allowed:
                assert matcher.is_finished or grammar.is_empty or not matcher.bitmask().any()
                return
            assert matcher.accept(choose.choice(allowed))
    except LimitExceededError:
        return


# ---------------------------------------------------------------------- texts


def joined(words: Sequence[str], most: int = 30) -> st.SearchStrategy[str]:
    """Words of a notation, one after the other."""
    return st.lists(st.sampled_from(words), max_size=most).map("".join)


def any_text(most: int = 60) -> st.SearchStrategy[str]:
    """Any code points, lone surrogates and NUL included."""
    return st.text(st.characters(), max_size=most) | st.text(st.characters(categories=["Cs", "Cc", "Nd"]), max_size=8)


@st.composite
def mutated(draw: st.DrawFn, texts: Sequence[str], words: Sequence[str], most: int = 4) -> str:
    """A text in which a few pieces are removed, doubled, or replaced by a word."""
    text = draw(st.sampled_from(texts))
    for _ in range(draw(st.integers(1, most))):
        start = draw(st.integers(0, len(text)))
        end = min(len(text), start + draw(st.sampled_from([0, 1, 1, 2, 5, 20, 100])))
        piece = draw(st.sampled_from(["", text[start:end] * 2, *words]))
        text = text[:start] + piece + text[end:]
    return text


def real_texts(names: Sequence[str], notation: str, longest: int) -> list[str]:
    """Grammars of the corpora beside the checkout, those that are not long; none without them."""
    found: list[str] = []
    for name in names:
        for case in cases(name):
            text = case["source"] if "source" in case else json.dumps(case["schema"])
            if case.get("kind", "json_schema") == notation and len(text) <= longest:
                found.append(text)
    return sorted(set(found))


# ---------------------------------------------------------------------- JSON values


@st.composite
def replaced(draw: st.DrawFn, texts: Sequence[str], values: st.SearchStrategy[Any], keys: Sequence[str]) -> str:
    """A JSON text in which a few values or keys are replaced."""
    whole = json.loads(draw(st.sampled_from(texts)))
    for _ in range(draw(st.integers(1, 3))):
        places = _places(whole)
        if not places:
            break
        holder, key = places[draw(st.integers(0, len(places) - 1))]
        if isinstance(holder, dict) and draw(st.booleans()):
            holder[draw(st.sampled_from(keys))] = holder.pop(key)
        else:
            holder[key] = draw(values)
    return json.dumps(whole)


def _places(whole: Any) -> list[tuple[Any, Any]]:
    found: list[tuple[Any, Any]] = []
    todo = [whole]
    while todo:
        part = todo.pop()
        pairs = (
            list(part.items()) if isinstance(part, dict) else list(enumerate(part)) if isinstance(part, list) else []
        )
        found += [(part, key) for key, _ in pairs]
        todo += [value for _, value in pairs]
    return found
