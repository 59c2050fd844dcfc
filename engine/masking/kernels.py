"""The inner loops of mask computation, over integer tables only, so that numba can compile them.

`jit` compiles these functions; uncompiled they run as ordinary, slow Python. A walk
returns when an entry is missing from the automaton's tables; the caller computes the
entry and calls again, and the walk resumes where it stopped.

The arguments of a walk are addresses in one array: numba unpacks every array that it
is passed, and for twenty arrays that took longer than most walks.

The trie is that of `engine.vocabulary.trie`, with N nodes: byte uint8[N], depth,
skip int32[N], token_start int32[N + 1], token_ids int32[T].

Every index is converted to unsigned first: for a signed one numba checks whether it
counts from the end, which took a third of the time.
"""

from __future__ import annotations

import ctypes
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from engine.automata.actions import (
    BELOW_SHIFT,
    ENDING,
    FRAME_FACTOR,
    FRAME_MASK,
    KINDS,
    MISS,
    NEAR,
    POP,
    PUSH,
    REREAD,
    SYMBOL_FACTOR,
    TOP_SHIFT,
)

Ints: TypeAlias = npt.NDArray[np.int32]
Bytes: TypeAlias = npt.NDArray[np.uint8]
Longs: TypeAlias = npt.NDArray[np.int64]
ActionArrays: TypeAlias = tuple[Longs, Longs, Longs]
TrieArrays: TypeAlias = tuple[Bytes, Ints, Ints, Ints, Ints]

DONE = -1
NO_ENTRY, NO_ACTION, NO_FRAME = 1, 2, 3
"""What is missing from the tables: an entry of a lexer state's row, a stack action of a frame, or a return action."""

(
    BYTE,
    DEPTH,
    SKIP,
    TOKEN_START,
    TOKEN_IDS,
    GROUP_START,
    ROOTS,
    TRIE_NODES,
    TRIE_TOKENS,
    EXITS,
    SEED,
    ROWS,
    STATES,
    CLASSES,
    CLASS_OF_BYTE,
    DENSE_ROWS,
    FRAMES,
    KEYS,
    VALUES,
    SLOTS,
    EXCLUDED,
    PATH,
    HEIGHT,
    STACK,
    NODES,
    MASK,
    WORDS,
    START,
    INNER,
    BASE,
    INITIAL,
    CLEAR,
) = range(32)
"""Indices into the record that `walk` is passed: addresses of arrays, and their sizes.

- The trie: `BYTE` to `TOKEN_IDS`, `TRIE_NODES` and `TRIE_TOKENS`.
- Its nodes to start at: int32[`EXITS`] `ROOTS`, grouped by the byte of the node, and int32[257] `GROUP_START`, where
  each group begins; uint8[256] `EXCLUDED`, the bytes whose root at depth 1 is skipped.
- uint32[`WORDS`] `SEED`, tokens that are allowed without a walk; address 0 for none.
- The automaton: int32[`STATES`, `CLASSES`] `ROWS`, the rows of the lexer states, where -1 is missing, 0 is dead and
  `-2 - symbol` ends the lexeme; uint8[256] `CLASS_OF_BYTE`; dense rows, keys and values of an `ActionTable` of
  `FRAMES` frames and `SLOTS` slots.
- Scratch, kept between calls: int32[2, `HEIGHT`] `PATH`, the lexer state and stack node at each depth of the path to
  the trie node; int32[2, `NODES`] `STACK`, the frame of each stack node and the node below it. The initial stack comes
  first and has at most `INITIAL` nodes.
- uint32[`WORDS`] `MASK`: bits are only added; it is cleared first if `CLEAR` is set.
- `START`, the lexer state above the roots at depth `BASE` + 1, and `INNER`, the one above deeper roots (after bytes
  of a loop). Their rows are complete.
"""
PROGRESS: Final = 32
"""Where the progress of a walk begins in the record: 8 numbers, at first 0, 0, 0, 0, -1. The mask's digest follows."""
IS_RESUMED, AT_GROUP, AT_POSITION, AT_NODE, LOWEST_READ, MISSING, MISSING_OF, MISSING_KEY = range(8)
"""Indices into the progress of a walk.

Whether it is resumed; the group, the position in the group and the trie node at which to resume; the lowest initial
stack node that was read, -1 for none; what is missing, of which lexer state or frame, and for which byte class or
symbol.
"""
DIGEST: Final = PROGRESS + 8
RECORD_SIZE: Final = DIGEST + 1

_PUSH, _POP, _REREAD = int(PUSH), int(POP), int(REREAD)
_DIGESTS = (1 << 63) - 1
_ONE, _FIVE, _31, _256 = np.uint64(1), np.uint64(5), np.uint64(31), np.uint64(256)


def address_of(array: npt.NDArray[Any], dtype: type[Any]) -> int:
    """Return the address of an array.

    Raises:
        TypeError: the array has another dtype, or is not contiguous.
    """
    flags = array.flags
    if array.dtype != dtype or not flags.c_contiguous:
        raise TypeError(f"a walk reads {dtype.__name__} in one piece, not {array.dtype}{list(array.shape)}")
    if flags.writeable and array.size:
        # 0.3 µs, where the line below takes 0.8; before Python 3.12 the stubs of numpy have no buffers
        return ctypes.addressof(ctypes.c_char.from_buffer(array))  # type: ignore[arg-type]
    return array.ctypes.data


def array_at(address: int, shape: int | tuple[int, int], dtype: type[Any]) -> npt.NDArray[Any]:
    """Return the array at an address, which the caller keeps alive.

    Args:
        address: the address of the first element.
        shape: the shape of the array.
        dtype: the type of its elements.
    """
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    return np.ndarray(shape, dtype, memoryview((ctypes.c_char * size).from_address(int(address))))


def find_action(keys: Longs, values: Longs, frame: int, symbol: int) -> int:
    """Look up an action of an `ActionTable` in its hash table; `MISS` if it is not there.

    Args:
        keys: int64[slots], the keys of the table.
        values: int64[slots], its actions.
        frame: the frame.
        symbol: the symbol that ends the lexeme, or the ending of the frame above.
    """
    key = frame << 32 | symbol
    mixed = frame * FRAME_FACTOR + (symbol & 0xFFFFFF) * SYMBOL_FACTOR + (symbol >> 31)
    slots = len(keys) - 1
    slot = (mixed ^ mixed >> 15) & slots
    while keys[slot] != MISS:
        if keys[slot] == key:
            return int(values[slot])
        slot = slot + 1 & slots
    return MISS


def end_lexeme(  # noqa: PLR0913, PLR0917 - numba takes arrays, not objects
    following: int,
    state: int,
    byte_class: int,
    stack: int,
    n_initial: int,
    free: int,
    rows: npt.NDArray[np.int32],
    actions: ActionArrays,
    nodes: tuple[Ints, Ints],
    progress: Longs,
) -> tuple[int, int, int]:
    """Update a stack when a byte ends the lexeme of its top frame.

    Args:
        following: the entry of the byte, which is missing or ends the lexeme.
        state: the lexer state whose row has this entry.
        byte_class: the class of the byte.
        stack: the top stack node.
        n_initial: the number of nodes of the initial stack.
        free: the first stack node that may be written.
        rows: int32[states, classes], see `ROWS`.
        actions: the dense rows, keys and values of the `ActionTable`.
        nodes: the frame of each stack node, and the node below it.
        progress: int64[8], see `PROGRESS`; receives what is missing.

    Returns:
        The next lexer state, 0 if nothing completes the text, -1 if an entry is missing; the top node; and the lowest
        initial node that was read, -1 for none.
    """
    dense, keys, values = actions
    frames, belows = nodes
    lowest = -1
    while following < MISS:
        frame, symbol = int(frames[stack]), -2 - following
        lowest = max(lowest, stack if stack < n_initial else -1)
        action = int(dense[frame, symbol]) if symbol < NEAR else find_action(keys, values, frame, symbol)
        if action < 0:  # `MISS` or `NEEDS_TEXT`
            progress[MISSING], progress[MISSING_OF], progress[MISSING_KEY] = NO_ACTION, frame, symbol
            return MISS, stack, lowest
        if action == 0:
            return 0, stack, lowest
        kind, top = action & KINDS, action >> TOP_SHIFT & FRAME_MASK
        below = int(belows[stack])
        if kind == _POP:
            owner, lowest = int(frames[below]), max(lowest, below if below < n_initial else -1)
            following = find_action(keys, values, owner, ENDING | top)
            if following < 0:
                progress[MISSING], progress[MISSING_OF], progress[MISSING_KEY] = NO_FRAME, owner, top
                return MISS, stack, lowest
            if following == 0:
                return 0, stack, lowest
            top, below = following, int(belows[below])
        elif kind == _PUSH:
            frames[free], belows[free] = action >> BELOW_SHIFT, below
            below = free
            free += 1
        frames[free], belows[free] = top, below
        stack = free
        free += 1
        state = int(dense[top, NEAR])
        following = int(rows[state, byte_class]) if action & _REREAD else state
    if following == MISS:
        progress[MISSING], progress[MISSING_OF], progress[MISSING_KEY] = NO_ENTRY, state, byte_class
    return following, stack, lowest


def walk(record: Longs) -> int:
    """Add every token below the roots that the automaton can read.

    The state of a walk is a lexer state and a stack node. Node 0 is the top of the initial stack, node 1 the one below
    it, and so on; the walk adds further nodes.

    Args:
        record: int64[RECORD_SIZE], addresses, sizes and progress; see the indices above.

    Returns:
        DONE, or what is missing.
    """
    nodes = record[TRIE_NODES]
    trie = (
        array_at(record[BYTE], nodes, np.uint8),
        array_at(record[DEPTH], nodes, np.int32),
        array_at(record[SKIP], nodes, np.int32),
        array_at(record[TOKEN_START], nodes + 1, np.int32),
        array_at(record[TOKEN_IDS], record[TRIE_TOKENS], np.int32),
    )
    exits = array_at(record[GROUP_START], 257, np.int32), array_at(record[ROOTS], record[EXITS], np.int32)
    rows = array_at(record[ROWS], (record[STATES], record[CLASSES]), np.int32)
    actions = (
        array_at(record[DENSE_ROWS], (record[FRAMES], NEAR + 1), np.int64),
        array_at(record[KEYS], record[SLOTS], np.int64),
        array_at(record[VALUES], record[SLOTS], np.int64),
    )
    path = array_at(record[PATH], (2, record[HEIGHT]), np.int32)
    stack = array_at(record[STACK], (2, record[NODES]), np.int32)
    words = array_at(record[MASK], record[WORDS], np.uint32)
    if record[PROGRESS + IS_RESUMED] == 0:
        if record[CLEAR]:
            words[:] = 0
        if record[SEED]:
            seed = array_at(record[SEED], record[WORDS], np.uint32)
            for position in range(len(words)):
                words[position] |= seed[position]
    missing = walk_arrays(
        trie,
        exits,
        (rows, array_at(record[CLASS_OF_BYTE], 256, np.uint8)),
        actions,
        (record[START], record[INNER], record[BASE], record[INITIAL]),
        array_at(record[EXCLUDED], 256, np.uint8),
        (path[0], path[1], stack[0], stack[1]),
        record[PROGRESS:],
        words,
    )
    if missing == DONE:
        record[DIGEST] = digest(words)
    return missing


def walk_arrays(  # noqa: PLR0913, PLR0915, PLR0917 - a call for each node would cost more than the node
    trie: TrieArrays,
    exits: tuple[Ints, Ints],
    table: tuple[Ints, Bytes],
    actions: ActionArrays,
    start: tuple[int, int, int, int],
    excluded: Bytes,
    scratch: tuple[Ints, Ints, Ints, Ints],
    progress: Longs,
    words: npt.NDArray[np.uint32],
) -> int:
    """Run the loop of `walk` over the arrays of a record.

    Args:
        trie: byte, depth, skip, token_start and token_ids of the trie.
        exits: `GROUP_START` and `ROOTS`.
        table: `ROWS` and `CLASS_OF_BYTE`.
        actions: the dense rows, keys and values of the `ActionTable`.
        start: `START`, `INNER`, `BASE` and `INITIAL`.
        excluded: `EXCLUDED`.
        scratch: the lexer state and the stack node at each depth, the frame of each stack node and the node below it.
        progress: int64[8], see `PROGRESS`.
        words: `MASK`.

    Returns:
        DONE, or what is missing.
    """
    byte, depth, skip, token_start, token_ids = trie
    group_start, roots = exits
    rows, class_of_byte = table
    states, nodes, frames, belows = scratch
    configuration, inner, base = np.uint64(start[0]), np.uint64(start[1]), np.uint64(start[2])
    n_initial = start[3]
    resuming, group, position, node = (
        progress[IS_RESUMED] > 0,
        np.uint64(progress[AT_GROUP]),
        np.uint64(progress[AT_POSITION]),
        np.uint64(progress[AT_NODE]),
    )
    lowest_read = progress[LOWEST_READ]
    while group < _256:
        stop = np.uint64(group_start[group + _ONE])
        if not resuming:
            position = np.uint64(group_start[group])
            byte_class = np.uint64(class_of_byte[group])
            if rows[configuration, byte_class] == 0 and rows[inner, byte_class] == 0:
                position = stop
        while position < stop:
            root = np.uint64(roots[position])
            end = np.uint64(skip[root])
            if not resuming:
                above = np.uint64(depth[root]) - _ONE
                states[above] = configuration if above == base else inner
                nodes[above] = 0
                node = end if above == 0 and excluded[group] else root
            resuming = False
            while node < end:
                level = np.uint64(depth[node])
                state = np.uint64(states[level - _ONE])
                stack = nodes[level - _ONE]
                byte_class = np.uint64(class_of_byte[np.uint64(byte[node])])
                following = rows[state, byte_class]
                if following < 0:
                    following, stack, lowest = end_lexeme(
                        int(following),
                        int(state),
                        int(byte_class),
                        int(stack),
                        n_initial,
                        n_initial + 4 * int(level),
                        rows,
                        actions,
                        (frames, belows),
                        progress,
                    )
                    lowest_read = max(lowest_read, lowest)
                    if following < 0:
                        progress[IS_RESUMED], progress[AT_GROUP] = 1, group
                        progress[AT_POSITION], progress[AT_NODE] = position, node
                        progress[LOWEST_READ] = lowest_read
                        return int(progress[MISSING])
                if following > 0:
                    states[level] = following
                    nodes[level] = stack
                    index, last = np.uint64(token_start[node]), np.uint64(token_start[node + _ONE])
                    while index < last:
                        token = np.uint64(token_ids[index])
                        words[token >> _FIVE] |= 1 << (token & _31)
                        index += _ONE
                    node += _ONE
                else:
                    node = np.uint64(skip[node])
            position += _ONE
        group += _ONE
    progress[LOWEST_READ] = lowest_read
    return DONE


def digest(words: npt.NDArray[np.uint32]) -> int:
    """Return a hash of a mask, uint32[ceil(V / 32)]."""
    total = 0
    for position in range(len(words)):
        weight = (position + 1) * FRAME_FACTOR
        total += int(words[position]) * (weight ^ weight >> 7 ^ weight << 29 | 1)
    return total & _DIGESTS


def scan_loop(
    trie: TrieArrays, loop: npt.NDArray[np.int8], root: int, stack: Ints, exits: Ints, words: npt.NDArray[np.uint32]
) -> int:
    """Add every token that stays in a loop, and list the nodes at which the others leave it.

    Args:
        trie: the trie.
        loop: int8[states, 256]: state 0 is the loop's home, others are inside a character, -1 is outside.
        root: the node by which the loop is entered; -1 for the root of the trie.
        stack: int32[height + 1], scratch.
        exits: int32[N], receives the nodes that leave the loop from its home, in the order of the trie.
        words: uint32[ceil(V / 32)], the mask; bits are only added.

    Returns:
        The number of nodes that leave the loop.
    """
    byte, depth, skip, token_start, token_ids = trie
    count = 0
    node, end, entered = np.uint64(0), np.uint64(len(byte)), root >= 0
    stack[0] = 0
    if entered:
        node = np.uint64(root)
        end = np.uint64(skip[node])
    while node < end:
        level = np.uint64(depth[node])
        state = np.uint64(stack[level - _ONE])
        following = 0 if entered else loop[state, np.uint64(byte[node])]
        entered = False
        if following >= 0:
            stack[level] = following
            index, last = np.uint64(token_start[node]), np.uint64(token_start[node + _ONE])
            while index < last:
                token = np.uint64(token_ids[index])
                words[token >> _FIVE] |= 1 << (token & _31)
                index += _ONE
            node += _ONE
        else:
            if state == 0:
                exits[count] = node
                count += 1
            node = np.uint64(skip[node])
    return count


def measure_loop(
    trie: TrieArrays,
    loop: npt.NDArray[np.int8],
    stack: Ints,
    counts: Ints,
    of_token: npt.NDArray[np.int16],
    of_node: npt.NDArray[np.int16],
) -> None:
    """Count the characters of every token that stays in a loop.

    Args:
        trie: the trie.
        loop: as in `scan_loop`; the loop is in its home state between two characters.
        stack: int32[height + 1], scratch.
        counts: int32[height + 1], scratch.
        of_token: int16[V], receives the number of characters of each token that stays; an incomplete character at its
            end counts.
        of_node: int16[N], receives the number of characters before each node that leaves the loop.
    """
    byte, depth, skip, token_start, token_ids = trie
    node, end = np.uint64(0), np.uint64(len(byte))
    stack[0] = counts[0] = 0
    while node < end:
        level = np.uint64(depth[node])
        state = np.uint64(stack[level - _ONE])
        count = counts[level - _ONE]
        following = loop[state, np.uint64(byte[node])]
        if following < 0:
            of_node[node] = count
            node = np.uint64(skip[node])
            continue
        if following == 0:
            count += 1
        stack[level], counts[level] = following, count
        index, last = np.uint64(token_start[node]), np.uint64(token_start[node + _ONE])
        while index < last:
            of_token[np.uint64(token_ids[index])] = count + (1 if following else 0)
            index += _ONE
        node += _ONE
