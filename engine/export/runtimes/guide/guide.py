"""A grammar over a vocabulary: masks and steps, token by token.

A mask is the union of what each thread of a configuration allows. A thread
first reads within its rule, whatever surrounds it: which tokens do, and at which
nodes of the trie the rule may be over, is worked out once for each state. Only
below those nodes does the context matter, and there only few tokens are left.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from .pushdown import DEAD, Pushdown
from .trie import Trie

ENDED = -1
"""The state behind an end token: nothing follows."""

FORMAT = "turnstile-rule-automata"
VERSION = 2
_MOST_KEPT = 1 << 12  # masks, at two to sixteen kilobytes each
_FEW = 256  # ids that are kept one by one

Tokens = tuple[int, tuple[int, ...]]
"""Some tokens: bits of many, and ids of a few."""


class GuideError(ValueError):
    """The file is not what this code reads."""


class Guide:
    """A grammar that says which tokens may come next.

    A state is a number. States stay valid as long as the guide lives; one thread at a time may use it.

    Args:
        document: the content of the file.

    Attributes:
        about: what it was made from: generator, notation, source, options, vocabulary, notes.
        start: the state before the first token.
        size: how many ids the vocabulary has; the width of a mask in bits, before it is filled up to whole words.
        eos_ids: the ids that end the text.
        end_mask: the mask of those ids.
        generation: how often the guide forgot; states from before are none any more.

    Raises:
        GuideError: it is no such file, of another version, or holds no tokens.
    """

    def __init__(self, document: Mapping[str, Any]) -> None:
        if document.get("format") != FORMAT or document.get("version") != VERSION:
            raise GuideError(f"this reads {FORMAT}, version {VERSION}; given is {document.get('format')}")
        if "tokens" not in document:
            raise GuideError("the file was written without a vocabulary, so it cannot tell tokens")
        self.about = {name: value for name, value in document.items() if name not in ("rules", "tokens")}
        self.tokens: list[bytes | None] = [
            None if token is None else token.encode("latin-1") for token in document["tokens"]
        ]
        self.size = len(self.tokens)
        self.eos_ids: tuple[int, ...] = tuple(document["vocabulary"]["eos"])
        self.words = (self.size + 31) // 32
        self._rules = document["rules"]
        self._trie = Trie(self.tokens)
        self._ends = self._bits(self.eos_ids)
        self.generation = 0
        self.forget()
        self._sets = [self._listed(taken) for taken in self._machine.token_sets]
        self.end_mask = self._ends.to_bytes(4 * self.words, "little")

    @classmethod
    def load(cls, path: Any) -> Guide:
        """Read a file.

        Raises:
            GuideError: it is not what this code reads.
            OSError: it cannot be read.
        """
        with open(path, encoding="utf-8") as file:  # noqa: PTH123 - a path of any kind
            return cls(json.load(file))

    def forget(self) -> None:
        """Drop all that was worked out. States from before are not valid any more, except `start` and `ENDED`."""
        self._machine = Pushdown(self._rules)
        self._inside: dict[int, tuple[Tokens, list[int]]] = {}
        self._beyond: dict[tuple[int, int], Tokens] = {}
        self._masks: dict[int, bytes] = {}
        self.start = self._machine.start
        self.generation += 1

    @property
    def known_states(self) -> int:
        """How many states were met; a server that runs for weeks may `forget` them now and then."""
        return len(self._machine.configurations)

    # ------------------------------------------------------------------ steps

    def advance(self, state: int, token_id: int) -> int | None:
        """The state behind a token; None where the token may not come next."""
        if state == ENDED or not 0 <= token_id < self.size:
            return None
        if token_id in self.eos_ids:
            return ENDED if self.is_accepting(state) else None
        token = self.tokens[token_id]
        spelled = self._machine.run(state, token) if token else DEAD
        if self._sets:
            bit = 1 << token_id
            taken = [threads for tokens, threads in self._machine.whole(state) if self._sets[tokens] & bit]
            if taken:
                spelled = self._machine.intern(self._machine.configurations[spelled].kernel.union(*taken))
        return None if spelled == DEAD else spelled

    def run(self, token_ids: Sequence[int], state: int | None = None) -> int | None:
        """The state behind some tokens, from the start or from `state`; None where one may not come."""
        at = self.start if state is None else state
        for token_id in token_ids:
            following = self.advance(at, token_id)
            if following is None:
                return None
            at = following
        return at

    # ------------------------------------------------------------------ what may come next

    def mask(self, state: int) -> bytes:
        """The mask: bit `i & 7` of byte `i >> 3` is set where token `i` may come next.

        Its length is a multiple of four, so that as little-endian int32 words it is what xgrammar and vLLM take.
        """
        known = self._masks.get(state)
        if known is None:
            if len(self._masks) >= _MOST_KEPT:
                self._masks.clear()
            known = self._masks[state] = self._find(state).to_bytes(4 * self.words, "little")
        return known

    def allowed(self, state: int) -> list[int]:
        """The ids that may come next, in order."""
        return [8 * at + bit for at, byte in enumerate(self.mask(state)) if byte for bit in range(8) if byte >> bit & 1]

    def is_allowed(self, state: int, token_id: int) -> bool:
        """Whether a token may come next; computes no mask."""
        return self.advance(state, token_id) is not None

    def is_accepting(self, state: int) -> bool:
        """Whether the text may end here."""
        return state == ENDED or self._machine.configurations[state].accepting

    def is_exhausted(self, state: int) -> bool:
        """Whether nothing but an end may follow."""
        if state == ENDED:
            return True
        return self.is_accepting(state) and not self._machine.configurations[state].readers

    # ------------------------------------------------------------------ masks

    def _find(self, state: int) -> int:
        if state in (ENDED, DEAD):
            return 0
        machine = self._machine
        configuration = machine.configurations[state]
        found = self._ends if configuration.accepting else 0
        few: set[int] = set()
        for thread, context in configuration.items:
            tokens, exits = self._within(thread)
            found |= tokens[0]
            few.update(tokens[1])
            if exits:
                tokens = self._behind(machine.intern(machine.returns(context)), thread, exits)
                found |= tokens[0]
                few.update(tokens[1])
        for number, _ in machine.whole(state):
            found |= self._sets[number]
        return found | self._bits(few) if few else found

    def _within(self, thread: int) -> tuple[Tokens, list[int]]:
        """The tokens that a rule reads from one of its states on, and the nodes at which it may be over."""
        known = self._inside.get(thread)
        if known is None:
            ids: list[int] = []
            exits: list[int] = []
            self._walk(self._machine.at(thread), 0, len(self._trie.byte), ids, exits)
            known = self._inside[thread] = self._kept(ids), exits
        return known

    def _behind(self, number: int, thread: int, exits: list[int]) -> Tokens:
        """The tokens that go on in a configuration below some nodes."""
        known = self._beyond.get((number, thread))
        if known is None:
            ids: list[int] = []
            if self._machine.configurations[number].readers:
                for node in exits:
                    if self._trie.skip[node] > node + 1:
                        self._walk(number, node + 1, self._trie.skip[node], ids, None)
            if len(self._beyond) >= _MOST_KEPT:
                self._beyond.clear()
            known = self._beyond[number, thread] = self._kept(ids)
        return known

    def _walk(self, number: int, first: int, end: int, ids: list[int], exits: list[int] | None) -> None:
        """Step through nodes `first` to `end`; note the ids that can be read, and where the text may end."""
        trie, machine = self._trie, self._machine
        byte, depth, skip = trie.byte, trie.depth, trie.skip
        configurations = machine.configurations
        above = depth[first] if first < end else 0
        path = [number] * (trie.height + 2 - above)
        node = first
        while node < end:
            level = depth[node] - above
            following = configurations[path[level]].steps.get(byte[node])
            if following is None:
                following = machine.step(path[level], byte[node])
            if following == DEAD:
                node = skip[node]
                continue
            path[level + 1] = following
            ids += trie.ids[node]
            if exits is not None and configurations[following].accepting:
                exits.append(node)
            node += 1

    def _kept(self, ids: list[int]) -> Tokens:
        return (0, tuple(ids)) if len(ids) <= _FEW else (self._bits(ids), ())

    def _bits(self, ids: Iterable[int]) -> int:
        flags = bytearray(4 * self.words)
        for one in ids:
            flags[one >> 3] |= 1 << (one & 7)
        return int.from_bytes(flags, "little")

    def _listed(self, taken: Mapping[str, Any]) -> int:
        """The ids of a token set; an end is never one of them."""
        listed = self._bits(taken["listed"])
        if taken["negated"]:
            listed ^= (1 << self.size) - 1
        return listed & ~self._ends
