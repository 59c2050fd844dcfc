"""Sentences that explain why a token is allowed or not.

`Matcher.explain` returns the verdict as data (`engine.matching.explanation`) with the
sentence that this module writes: the token, the byte at which it fails, what is expected
there, and the position in the source. The command line, the window and shared pages show
that sentence.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from engine.matching.byte_descriptions import Ranges, byte_name, byte_prose
from engine.matching.explanation import Explanation, Reason, StackVerdict
from engine.source import SourceText, Span
from engine.source.text import quoted, shortened
from engine.vocabulary.visible import visible

if TYPE_CHECKING:
    from engine.vocabulary import Vocabulary

MOST_RULES = 4
MOST_PROPERTIES = 8


def explain(
    explanation: Explanation,
    source: SourceText | None = None,
    vocabulary: Vocabulary | None = None,
    *,
    token_id: int | None = None,
) -> str:
    """Return the verdict in a few sentences.

    Args:
        explanation: the verdict as data.
        source: the grammar's text; None if there is no grammar.
        vocabulary: gives the names of special tokens.
        token_id: the id of the token; None if the explanation is about bytes.
    """
    token = _token_name(explanation, vocabulary, token_id)
    match explanation.reason:
        case Reason.ALLOWED:
            sentences = _sentences_if_allowed(explanation, token)
        case Reason.DEAD_BYTE:
            sentences = _sentences_if_dead(explanation, token)
        case Reason.NOT_ACCEPTING:
            sentences = ["The text cannot end here.", _expectation(explanation, "here")]
        case Reason.SPECIAL | Reason.NO_BYTES:
            sentences = _sentences_without_text(explanation, token)
        case Reason.FINISHED:
            sentences = ["The generation is over: nothing may follow."]
        case Reason.UNKNOWN_ID:
            sentences = [f"{token} is not in the vocabulary."]
    location = "" if source is None else location_text(explanation.spans, source)
    return " ".join(filter(None, [*sentences, f"The match is at {location}." if location else ""]))


def with_sentence(
    explanation: Explanation, token: int | bytes, source: SourceText | None, vocabulary: Vocabulary
) -> Explanation:
    """Return an explanation with its sentence.

    Args:
        explanation: the verdict as data.
        token: the id or the bytes that it is about.
        source: the grammar's text; None if there is no grammar.
        vocabulary: gives the names of special tokens.
    """
    token_id = None if isinstance(token, bytes) else token
    return replace(explanation, sentence=explain(explanation, source, vocabulary, token_id=token_id))


def location_text(spans: Sequence[Span], source: SourceText) -> str:
    """Describe positions in the source: "line 1, column 3: `[a-z]+`, and 2 other places"; empty if there are none."""
    if not spans:
        return ""
    line, column = source.line_column(spans[0].start)
    # The excerpt stays on one line: line breaks become visible, but spaces stay spaces.
    excerpt = visible(source.excerpt(spans[0]).encode("utf-8", "replace")).replace("␣", " ")
    cited = f": {quoted(shortened(excerpt))}" if excerpt else ""
    others = len(spans) - 1
    more = f", and {others} other place{'s' if others > 1 else ''}" if others else ""
    return f"line {line}, column {column}{cited}{more}"


def explain_stacks(stacks: Sequence[StackVerdict], source: SourceText, data: bytes = b"") -> tuple[str, ...]:
    """Describe in one sentence per stack what it expects, or how far it reads a token.

    Args:
        stacks: the verdicts, from `Matcher.stacks` or an `Explanation`.
        source: the grammar's text.
        data: the bytes of the token; empty if the verdicts are about what is allowed next.
    """
    return tuple(_stack(stack, source, data) for stack in stacks)


def _stack(stack: StackVerdict, source: SourceText, data: bytes) -> str:
    read = quoted(visible(data[: stack.offset])) if data and stack.offset != 0 else ""
    expectation = _stack_expectation(stack.expected, stack.tokens, accepting=stack.accepting)
    location = location_text(stack.spans, source)
    prefix = f"{read} fits, then " if read else ""
    at = f", at {location}" if location else ""
    sentence = f"{where_phrase(stack.rules)}{prefix}{expectation}{property_phrase(stack)}{at}."
    return sentence[0].upper() + sentence[1:]


def where_phrase(rules: Sequence[str]) -> str:
    """Name the innermost rules, or the parts of a schema, whose JSON Pointers begin with a slash."""
    if not rules:
        return ""
    of_schema = rules[0].startswith("/")
    named = [quoted(name) for name in rules[:MOST_RULES]]
    if len(rules) > MOST_RULES:
        named.append(f"{len(rules) - MOST_RULES} others")
    return f"by {', '.join(named)}: " if of_schema else f"in {' of '.join(named)}: "


def _stack_expectation(expected: Ranges, tokens: Sequence[str], *, accepting: bool) -> str:
    expectation = listed(expected, tokens, accepting=accepting)
    if not expectation:
        return "nothing may follow" if accepting else "nothing is expected"
    return f"{expectation} is expected"


def listed(expected: Ranges, tokens: Sequence[str], *, accepting: bool) -> str:
    """List what may come next in words; empty if at most the end of the text may.

    Args:
        expected: the inclusive byte ranges that are allowed.
        tokens: the token elements that are allowed, as written in the source.
        accepting: whether the text may end.
    """
    expectation = [byte_prose(expected)] if expected else []
    expectation += [f"the token {quoted(token)}" for token in tokens]
    if expectation and accepting:
        expectation.append("the end of the text")
    return ", or ".join(expectation)


def property_phrase(stack: StackVerdict) -> str:
    """Name the object properties that the expected bytes may begin; empty if there are none."""
    named = [quoted(name) for name in stack.properties[:MOST_PROPERTIES]]
    more = len(stack.properties) - len(named)
    named += [f"{more} others that are named"] if more else []
    named += ["any other"] if stack.other_properties and named else []
    if not named:
        return ""
    return f" (for {'the property' if len(named) == 1 else 'one of the properties'} {', '.join(named)})"


def _sentences_without_text(explanation: Explanation, token: str) -> list[str]:
    kind = "is a special token: it has no text" if explanation.reason is Reason.SPECIAL else "has no text"
    if not explanation.tokens:
        return [f"{token} {kind}, so the grammar never allows it."]
    expectation = " or ".join(quoted(element) for element in explanation.tokens)
    return [f"{token} {kind}, and the grammar asks for another token here: {expectation}."]


def _sentences_if_allowed(explanation: Explanation, token: str) -> list[str]:
    ending = ["The text may end after it."] if explanation.accepting and explanation.token else []
    return [f"{token} is allowed here.", *ending]


def _sentences_if_dead(explanation: Explanation, token: str) -> list[str]:
    data, offset = explanation.token or b"", explanation.offset or 0
    start, name = culprit(data, offset)
    where = "there" if offset else "here"
    if start == 0:
        return [f"{token} is not allowed here: it begins with {name}.", _expectation(explanation, where)]
    prefix = quoted(visible(data[:start]))
    return [f"{token} is not allowed here: {prefix} fits, but not {name} after it.", _expectation(explanation, where)]


def _expectation(explanation: Explanation, where: str) -> str:
    expectation = listed(explanation.expected, explanation.tokens, accepting=explanation.accepting)
    if not expectation:
        return f"The text is complete {where}: nothing may follow." if explanation.accepting else ""
    return f"Expected {where}: {expectation}."


def culprit(data: bytes, offset: int) -> tuple[int, str]:
    """Return where the character with a byte that is not allowed starts, and its name; else those of the byte."""
    start = offset
    while start > 0 and 0x80 <= data[start] < 0xC0:
        start -= 1
    for end in range(offset + 1, min(len(data), start + 4) + 1):
        try:
            char = data[start:end].decode()
        except UnicodeDecodeError:
            continue
        if len(char) > 1:
            break
        if char.isascii():
            return offset, byte_name(data[offset])
        part = f" (at its byte {offset - start + 1}, {data[offset]:02X})" if offset > start else ""
        return start, quoted(visible(char.encode())) + part
    return offset, byte_name(data[offset])


def _token_name(explanation: Explanation, vocabulary: Vocabulary | None, token_id: int | None) -> str:
    if explanation.token:
        return quoted(visible(explanation.token))
    if token_id is None:
        return "This token"
    name = vocabulary.special.get(token_id) if vocabulary else None
    return quoted(name) if name else f"Token #{token_id}"
