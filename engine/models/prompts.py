"""Tokenisation of prompts with a transformers tokenizer.

A prompt begins with exactly one BOS token, no matter if the tokenizer, the chat template
or the user adds it. An EOS token that the tokenizer appends is removed, since after it
the model would begin another text.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from engine.models.errors import ModelError, is_panic
from engine.models.source import Message
from engine.vocabulary import Vocabulary

_MAX_CAUSE = 200  # characters of another library's message


def alphabet_of(vocabulary: Vocabulary) -> frozenset[str] | None:
    """Return the characters of a vocabulary of single characters, whose tokenizer drops all others; None for others.

    A vocabulary of at least 256 tokens does not count, since 256 single bytes encode every text.
    """
    texts = [token.decode("utf-8", errors="replace") for token in vocabulary.tokens if token is not None]
    return frozenset(texts) if len(texts) < 256 and all(len(text) == 1 for text in texts) else None


def encode_text(tokenizer: Any, vocabulary: Vocabulary, alphabet: frozenset[str] | None, text: str) -> list[int]:
    """Return the ids of a prompt.

    An empty prompt becomes the BOS token, or an EOS token (which ends an earlier text), or a line feed.

    Args:
        tokenizer: a transformers tokenizer.
        vocabulary: its vocabulary.
        alphabet: the result of `alphabet_of`.
        text: the prompt.

    Raises:
        ModelError: the vocabulary cannot encode the text.
    """
    if alphabet is not None:
        _check_alphabet(alphabet, text, vocabulary.special.values())
    plain = _encode(tokenizer, text, special=False)
    unknown = tokenizer.unk_token_id
    if unknown is not None and unknown in plain and tokenizer.unk_token not in text:
        raise ModelError(
            f"the vocabulary cannot spell {_unknown_character(tokenizer, text)}; take it out of the prompt"
        )
    ids = _encode(tokenizer, text, special=True)
    if tokenizer.eos_token_id != tokenizer.bos_token_id:
        ids = _remove_added_eos(ids, plain, tokenizer.eos_token_id)
    ids = _single_bos(ids, tokenizer.bos_token_id)
    return ids or _empty_prompt(tokenizer, vocabulary)


def encode_messages(tokenizer: Any, messages: Sequence[Message], assistant_prefix: str) -> list[int]:
    """Return the ids of a conversation, formatted with the tokenizer's chat template.

    Args:
        tokenizer: a transformers tokenizer.
        messages: the role and the content of each message.
        assistant_prefix: the beginning of the assistant's answer.

    Raises:
        ModelError: there is no template, or it fails.
        CancelledError: the work of this thread was cancelled.
    """
    if not tokenizer.chat_template:
        raise ModelError("this model has no chat template; use a plain prompt")
    from engine.models import chat_template  # deferred: only a model with a template needs Jinja

    variables = {
        **_special_tokens(tokenizer),
        "messages": [{"role": role, "content": content} for role, content in messages],
        "tools": None,
        "documents": None,
        "add_generation_prompt": True,
    }
    text = chat_template.render(_template(tokenizer), variables)
    ids = _encode(tokenizer, text + assistant_prefix, special=False)
    return _single_bos(ids, tokenizer.bos_token_id)


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
        role: [str(token) for token in name] if isinstance(name, list | tuple) else str(name)
        for role, name in tokenizer.special_tokens_map.items()
    }


def _encode(tokenizer: Any, text: str, *, special: bool) -> list[int]:
    """Return the ids of a text, with or without the special tokens that the tokenizer adds."""
    try:
        return list(tokenizer(text, add_special_tokens=special)["input_ids"])
    except BaseException as error:
        if not isinstance(error, Exception) and not is_panic(error):
            raise
        raise ModelError(
            f"the model's tokenizer cannot encode the prompt ({type(error).__name__}: {str(error)[:_MAX_CAUSE]});"
            " its files may be damaged: download the model again"
        ) from error


def _check_alphabet(alphabet: frozenset[str], text: str, names: Iterable[str]) -> None:
    filler = min(alphabet)
    for name in names:  # special tokens may be typed by name
        text = text.replace(name, filler * len(name))
    for position, character in enumerate(text, start=1):
        if character not in alphabet:
            raise ModelError(
                f"this model knows {len(alphabet)} characters, and {_character_name(character)} at position {position} "
                "of the prompt is not one of them; take it out, or choose another model"
            )


def _character_name(character: str) -> str:
    return f"“{character}”" if character.isprintable() else f"U+{ord(character):04X}"


def _unknown_character(tokenizer: Any, text: str) -> str:
    for position, character in enumerate(text, start=1):
        if tokenizer.unk_token_id in _encode(tokenizer, character, special=False):
            return f"{_character_name(character)} at position {position}"
    return "a part of the prompt"


def _remove_added_eos(ids: list[int], plain: list[int], eos_id: int | None) -> list[int]:
    added = _trailing_count(ids, eos_id) - _trailing_count(plain, eos_id)
    return ids[: len(ids) - max(0, added)]


def _trailing_count(ids: list[int], eos_id: int | None) -> int:
    """Return the number of consecutive EOS ids at the end of the ids."""
    return next((count for count, token_id in enumerate(reversed(ids)) if token_id != eos_id), len(ids))


def _single_bos(ids: list[int], bos: int | None) -> list[int]:
    while bos is not None and ids[:2] == [bos, bos]:
        ids = ids[1:]
    return ids


def _empty_prompt(tokenizer: Any, vocabulary: Vocabulary) -> list[int]:
    if tokenizer.bos_token_id is not None:
        return [tokenizer.bos_token_id]
    if vocabulary.eos_ids:
        return [min(vocabulary.eos_ids)]
    return _encode(tokenizer, "\n", special=False) or [0]
