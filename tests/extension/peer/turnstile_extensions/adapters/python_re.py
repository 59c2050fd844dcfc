"""Python's `re` as an engine: a token is allowed if some listed text of the grammar continues with it."""

import re

from engine.peers.adapter import Peer, UnsupportedNotationError, allows, empty_mask

TEXTS = ("ab", "ba")


class ReMatcher:
    def __init__(self, source, vocabulary):
        self._texts = [text.encode() for text in TEXTS if re.fullmatch(source, text)]
        self._vocabulary = vocabulary
        self.mask = empty_mask(vocabulary)
        self.reset()

    def reset(self):
        self._read = b""

    def fill_mask(self):
        self.mask[:] = 0
        for token_id, token in enumerate(self._vocabulary.tokens):
            if token and any(text.startswith(self._read + token) for text in self._texts):
                self.mask[token_id >> 5] |= 1 << (token_id & 31)

    def accept(self, token_id):
        self._read += self._vocabulary.tokens[token_id] or b""
        return allows(self.mask, token_id)

    def is_accepting(self):
        return self._read in self._texts


class ReAdapter:
    def __init__(self, vocabulary):
        self._vocabulary = vocabulary

    def compile(self, notation, source):
        if notation != "regex":
            raise UnsupportedNotationError(notation)
        return ReMatcher(source, self._vocabulary)

    def forget(self):
        pass


PEER = Peer("python-re", "pytest", ReAdapter)
