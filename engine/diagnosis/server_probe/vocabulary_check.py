"""The vocabulary of a server beside that of a tokenizer, and the tokens that end its outputs.

A mask that is made for another vocabulary bans and allows the wrong tokens, so one different token is a cause of every
kind of nonsense. Only servers that have their vocabulary to read are compared.
"""

from __future__ import annotations

from engine.diagnosis.server_probe.report import VocabularyFinding
from engine.servers import KINDS, ServerClient, ServerError, ServerIdentity
from engine.servers.served_model import ServesModel
from engine.vocabulary import Vocabulary
from engine.vocabulary.visible import visible


def server_vocabulary(client: ServerClient, identity: ServerIdentity) -> Vocabulary | None:
    """Return the vocabulary that a server has to read; None if it has none.

    Args:
        client: the server.
        identity: what it says of itself.

    Raises:
        CancelledError: the work was cancelled.
    """
    kind = KINDS[identity.kind]
    if not isinstance(kind, ServesModel) or kind.needs_tokenizer:
        return None
    try:
        return kind.model(client, identity, None).vocabulary
    except ServerError:
        return None


def compare_vocabularies(server: Vocabulary | None, tokenizer: Vocabulary | None) -> VocabularyFinding:
    """Return whether two vocabularies are equal; the logits of a server may be wider than a tokenizer.

    Args:
        server: that of the server; None if it cannot be read.
        tokenizer: that of the tokenizer; None without one.
    """
    if tokenizer is None:
        return VocabularyFinding(None, reason="no_tokenizer")
    if server is None:
        return VocabularyFinding(None, reason="not_read")
    for token_id in range(max(server.size, tokenizer.size)):
        there, here = _text(server, token_id), _text(tokenizer, token_id)
        if there != here:
            return VocabularyFinding(False, token_id, visible(here), visible(there))
    return VocabularyFinding(True)


def _text(vocabulary: Vocabulary, token_id: int) -> bytes:
    """Return the bytes of a token, or the name of a special one; nothing for a hole."""
    if token_id >= vocabulary.size:
        return b""
    token = vocabulary.tokens[token_id]
    return token or vocabulary.special.get(token_id, "").encode()
