"""Prompts to ids, by a transformers tokenizer.

The beginning-of-text token stands there exactly once, whoever puts it: the tokenizer,
the chat template, or the user who typed it. Nothing ends a prompt: a tokenizer that
adds an end of text would have the model start another one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from engine.models.errors import ModelError, is_panic
from engine.models.source import Message
from engine.vocabulary import Vocabulary

_LONGEST_CAUSE = 200  # characters of another library's message


def alphabet_of(vocabulary: Vocabulary) -> frozenset[str] | None:
    """The characters of a vocabulary of single characters, whose tokenizer drops others silently; None for any other.

    256 single bytes spell everything, so a vocabulary with as many tokens is none of these.
    """
    texts = [token.decode("utf-8", errors="replace") for token in vocabulary.tokens if token is not None]
    return frozenset(texts) if len(texts) < 256 and all(len(text) == 1 for text in texts) else None


def encode_text(tokenizer: Any, vocabulary: Vocabulary, alphabet: frozenset[str] | None, text: str) -> list[int]:
    """The ids of a prompt.

    An empty one becomes the beginning of a text: BOS, or an end (what came before is over), or a new line.

    Raises:
        ModelError: the vocabulary cannot spell the text.
    """
    if alphabet is not None:
        _check_alphabet(alphabet, text, vocabulary.special.values())
    plain = _encoded(tokenizer, text, special=False)
    unknown = tokenizer.unk_token_id
    if unknown is not None and unknown in plain and tokenizer.unk_token not in text:
        raise ModelError(f"the vocabulary cannot spell {_culprit(tokenizer, text)}; take it out of the prompt")
    ids = _encoded(tokenizer, text, special=True)
    if tokenizer.eos_token_id != tokenizer.bos_token_id:
        ids = _without_added_end(ids, plain, tokenizer.eos_token_id)
    ids = _once(ids, tokenizer.bos_token_id)
    return ids or _beginning(tokenizer, vocabulary)


def encode_messages(tokenizer: Any, messages: Sequence[Message], assistant_prefix: str) -> list[int]:
    """Return the ids of a conversation, by the tokenizer's chat template.

    Raises:
        ModelError: there is no template, or it fails.
        CancelledError: the work of this thread was cancelled.
    """
    if not tokenizer.chat_template:
        raise ModelError("this model has no chat template; use a plain prompt")
    from engine.models import chat_template  # here, since only a model with a template needs Jinja

    variables = {
        **_special_tokens(tokenizer),
        "messages": [{"role": role, "content": content} for role, content in messages],
        "tools": None,
        "documents": None,
        "add_generation_prompt": True,
    }
    text = chat_template.render(_template(tokenizer), variables)
    ids = _encoded(tokenizer, text + assistant_prefix, special=False)
    return _once(ids, tokenizer.bos_token_id)


def _template(tokenizer: Any) -> str:
    """Return the template for a conversation without tools."""
    try:
        template = tokenizer.get_chat_template()
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise ModelError(f"this model has no chat template for conversations ({error}); use a plain prompt") from error
    if not isinstance(template, str):
        raise ModelError(
            f"the model's chat template should be text, not {type(template).__name__};"
            " correct “chat_template” in its tokenizer_config.json, or use a plain prompt"
        )
    return template


def _special_tokens(tokenizer: Any) -> dict[str, Any]:
    """Return the names of special tokens by their roles, which a template can use."""
    return {
        role: [str(one) for one in name] if isinstance(name, list | tuple) else str(name)
        for role, name in tokenizer.special_tokens_map.items()
    }


def _encoded(tokenizer: Any, text: str, *, special: bool) -> list[int]:
    """Return the ids of a text, with the special tokens that the tokenizer adds by itself or without."""
    try:
        return list(tokenizer(text, add_special_tokens=special)["input_ids"])
    except BaseException as error:
        if not isinstance(error, Exception) and not is_panic(error):
            raise
        raise ModelError(
            f"the model's tokenizer cannot encode the prompt ({type(error).__name__}: {str(error)[:_LONGEST_CAUSE]});"
            " its files may be damaged: download the model again"
        ) from error


def _check_alphabet(alphabet: frozenset[str], text: str, names: Iterable[str]) -> None:
    filler = min(alphabet)
    for name in names:  # a special token that was typed is one
        text = text.replace(name, filler * len(name))
    for position, character in enumerate(text, start=1):
        if character not in alphabet:
            raise ModelError(
                f"this model knows {len(alphabet)} characters, and {_named(character)} at position {position} "
                "of the prompt is not one of them; take it out, or choose another model"
            )


def _named(character: str) -> str:
    return f"“{character}”" if character.isprintable() else f"U+{ord(character):04X}"


def _culprit(tokenizer: Any, text: str) -> str:
    for position, character in enumerate(text, start=1):
        if tokenizer.unk_token_id in _encoded(tokenizer, character, special=False):
            return f"{_named(character)} at position {position}"
    return "a part of the prompt"


def _without_added_end(ids: list[int], plain: list[int], end: int | None) -> list[int]:
    added = _run_at_end(ids, end) - _run_at_end(plain, end)
    return ids[: len(ids) - max(0, added)]


def _run_at_end(ids: list[int], end: int | None) -> int:
    """How many times `end` stands at the end of the ids."""
    return next((count for count, token_id in enumerate(reversed(ids)) if token_id != end), len(ids))


def _once(ids: list[int], bos: int | None) -> list[int]:
    while bos is not None and ids[:2] == [bos, bos]:
        ids = ids[1:]
    return ids


def _beginning(tokenizer: Any, vocabulary: Vocabulary) -> list[int]:
    if tokenizer.bos_token_id is not None:
        return [tokenizer.bos_token_id]
    if vocabulary.eos_ids:
        return [min(vocabulary.eos_ids)]
    return _encoded(tokenizer, "\n", special=False) or [0]
