"""Token bytes from any tokenizer, the trie that masks walk, and how a token is shown."""

from engine.vocabulary.audit import Audit, audit
from engine.vocabulary.errors import VocabularyError
from engine.vocabulary.trie import Trie
from engine.vocabulary.visible import visible
from engine.vocabulary.vocabulary import Vocabulary

__all__ = ["Audit", "Trie", "Vocabulary", "VocabularyError", "audit", "visible"]
