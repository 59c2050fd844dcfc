"""The accuracy of a model on labelled questions, with and without a grammar: does the constraint help or hurt it?

A question is a line of JSON: a prompt or messages, and the value that is expected, or several of which any is right.
A text is compared without white space around it; any other value with the JSON that the answer writes. Both ways answer
every question, so they are compared by those that only one of them answers right (McNemar's exact test).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from engine.compile import CompiledGrammar
from engine.decoding.comparison import paired_p_value, share_interval
from engine.decoding.generate import generate
from engine.decoding.values import DEFAULT_MAX_TOKENS, Bounds, Chat, Finish, SamplerSettings
from engine.models import LogitSource
from engine.source import CancelToken, EngineError

_KEYS: Final = ("prompt", "messages", "expected", "any_of")
_ROLES: Final = ("system", "user", "assistant")
_LEVEL: Final = 0.05


class QuestionsError(EngineError):
    """A file of questions cannot be read; the text says where and what to do."""


class AnswerMatch(StrEnum):
    """How much of an answer has to be what is expected: all of it, or its beginning."""

    EXACT = "exact"
    START = "start"


@dataclass(frozen=True, slots=True)
class LabelledQuestion:
    """A labelled question.

    Attributes:
        line: its line in the file, from 1.
        prompt: text, or a chat for a model with a template.
        expected: the values of which any is right.
    """

    line: int
    prompt: str | Chat
    expected: tuple[Any, ...]

    def is_right(self, answer: str, match: AnswerMatch) -> bool:
        """Return whether an answer is right."""
        return any(_is_right(answer.strip(), value, match) for value in self.expected)


@dataclass(frozen=True, slots=True)
class Answered:
    """A question with both answers.

    Attributes:
        question: the question.
        answer: the text with the grammar.
        free: the text without it.
        is_right: whether the text with the grammar is right.
        is_free_right: whether the other is.
        finish: how the text with the grammar ended.
    """

    question: LabelledQuestion
    answer: str
    free: str
    is_right: bool
    is_free_right: bool
    finish: Finish


class GrammarEffect(StrEnum):
    """The effect of a grammar on accuracy that the questions show."""

    HELPS = "helps"
    HURTS = "hurts"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Accuracy:
    """The counts of answered questions.

    Attributes:
        both, only_with, only_without, neither: how many were answered right with and without the grammar, with it
            alone, without it alone, and by neither.
    """

    both: int
    only_with: int
    only_without: int
    neither: int

    @classmethod
    def of(cls, answered: Sequence[Answered]) -> Accuracy:
        """Count answered questions."""
        pairs = [(one.is_right, one.is_free_right) for one in answered]
        return cls(*(pairs.count(pair) for pair in ((True, True), (True, False), (False, True), (False, False))))

    @property
    def total(self) -> int:
        """Return the number of questions."""
        return self.both + self.only_with + self.only_without + self.neither

    @property
    def right(self) -> tuple[int, int]:
        """Return how many were answered right with the grammar, and without it."""
        return self.both + self.only_with, self.both + self.only_without

    @property
    def intervals(self) -> tuple[Bounds, Bounds]:
        """Return the intervals of both accuracies."""
        with_grammar, without = (share_interval(count, self.total) for count in self.right)
        return with_grammar, without

    @property
    def p_value(self) -> float:
        """Return the p-value of the hypothesis that the grammar changes nothing."""
        return paired_p_value(self.only_without, self.only_with)

    @property
    def effect(self) -> GrammarEffect:
        """Return what the grammar does to the accuracy; unknown unless it was shown."""
        if self.p_value >= _LEVEL:
            return GrammarEffect.UNKNOWN
        return GrammarEffect.HELPS if self.only_with > self.only_without else GrammarEffect.HURTS


def read_questions(text: str) -> tuple[LabelledQuestion, ...]:
    """Read questions from JSON lines; empty lines are skipped.

    Raises:
        QuestionsError: a line is not as it should be, or there is none.
    """
    found = tuple(_question(line, number) for number, line in enumerate(text.splitlines(), 1) if line.strip())
    if not found:
        raise QuestionsError("errors.diagnosis.questions.none")
    return found


def _question(line: str, number: int) -> LabelledQuestion:
    try:
        data = json.loads(line)
    except json.JSONDecodeError as error:
        reason = error.msg[:1].lower() + error.msg[1:]
        raise _problem("not_json", number, error.colno, reason=reason) from error
    except RecursionError as error:
        raise _problem("too_deep", number, 1) from error
    if not isinstance(data, dict):
        raise _problem("no_object", number, 1)
    for key in data:
        if key not in _KEYS:
            raise _problem("unknown_key", number, _column(line, key), key=key, keys=", ".join(_KEYS))
    for one, other in (("prompt", "messages"), ("expected", "any_of")):
        if (one in data) == (other in data):
            raise _problem("one_of", number, 1, one=one, other=other)
    expected = data["any_of"] if "any_of" in data else [data["expected"]]
    if not isinstance(expected, list) or not expected:
        raise _problem("no_list", number, _column(line, "any_of"))
    return LabelledQuestion(number, _prompt(data, line, number), tuple(expected))


def _prompt(data: dict[str, Any], line: str, number: int) -> str | Chat:
    if "prompt" in data:
        if not isinstance(data["prompt"], str):
            raise _problem("no_text", number, _column(line, "prompt"))
        return data["prompt"]
    messages = data["messages"]
    pairs = []
    for one in messages if isinstance(messages, list) and messages else [None]:
        role, content = (one.get("role"), one.get("content")) if isinstance(one, dict) else (None, None)
        if role not in _ROLES or not isinstance(content, str):
            raise _problem("no_messages", number, _column(line, "messages"), roles=", ".join(_ROLES))
        pairs.append((str(role), content))
    return Chat(tuple(pairs))


def _problem(name: str, number: int, column: int, **fields: object) -> QuestionsError:
    return QuestionsError(f"errors.diagnosis.questions.{name}", line=number, column=column, **fields)


def _column(line: str, key: str) -> int:
    """Return the column of a key, from 1; 1 if it is escaped."""
    return max(line.find(json.dumps(key, ensure_ascii=False)), 0) + 1


def _is_right(answer: str, value: object, match: AnswerMatch) -> bool:
    if isinstance(value, str):
        wanted = value.strip()
        return answer == wanted or (match is AnswerMatch.START and bool(wanted) and answer.startswith(wanted))
    try:
        if match is AnswerMatch.START:
            return _same(json.JSONDecoder().raw_decode(answer)[0], value)
        return _same(json.loads(answer), value)
    except (ValueError, RecursionError):
        return False


def _same(one: object, other: object) -> bool:
    """Return whether two JSON values are equal: 1 and 1.0 are, 1 and true are not."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_same(value, other[key]) for key, value in one.items())
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_same, one, other))
    return one == other


def answer_questions(
    grammar: CompiledGrammar,
    model: LogitSource,
    questions: Sequence[LabelledQuestion],
    *,
    match: AnswerMatch = AnswerMatch.EXACT,
    sampler: SamplerSettings = SamplerSettings(temperature=0.0),  # noqa: B008 - frozen
    max_tokens: int = DEFAULT_MAX_TOKENS,
    cancel: CancelToken | None = None,
) -> Iterator[Answered]:
    """Answer each question with the grammar and without it, and yield both as they are ready.

    Args:
        grammar: what the answers must match.
        model: the logit source.
        questions: the questions.
        match: how much of an answer has to be right.
        sampler: how a token is drawn, in both ways.
        max_tokens: the limit of an answer, in tokens.
        cancel: cancels the work, and receives its progress.

    Raises:
        CancelledError: it was cancelled; the answers so far have been yielded.
        ModelError: a prompt cannot be encoded, or the model failed.
    """
    for index, question in enumerate(questions):
        with_grammar, free = (
            generate(one, model, prompt=question.prompt, sampler=sampler, max_tokens=max_tokens, cancel=cancel)
            for one in (grammar, None)
        )
        yield Answered(
            question,
            with_grammar.text,
            free.text,
            question.is_right(with_grammar.text, match),
            question.is_right(free.text, match),
            with_grammar.finish,
        )
        if cancel is not None:
            cancel.report("progress.questions", index + 1, len(questions))
