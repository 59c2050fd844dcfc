r"""The text format of the processors' fields, and short descriptions of stages.

Texts of a zone, suppressed texts and biased texts may contain spaces at their ends and line breaks, which a line of a
field cannot. They are written as `\n`, `\t`, `\r`, `\s` (a space), `\#` and `\\`. `#123` is the token of that number.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from app.catalogue import ui_text
from engine.decoding.pipeline_settings import (
    DEFAULT_ORDER,
    Afterwards,
    PipelineSettings,
    StageName,
    Strategy,
    TableSettings,
    ZoneSettings,
)
from engine.decoding.values import BudgetState

STAGE_TEXTS = {
    StageName.GRAMMAR: "Grammar",
    StageName.BUDGET: "Within the budget",
    StageName.STATIC: "Static classes",
    StageName.PATTERN: "Pattern",
    StageName.TABLE: "DFA table",
    StageName.SUPPRESS: "Suppress",
    StageName.BIAS: "Bias",
    StageName.PENALTY: "Repetition penalty",
    StageName.TEMPERATURE: "Temperature",
    StageName.TOP_K: "Top-k",
    StageName.TOP_P: "Top-p",
    StageName.MIN_P: "Min-p",
}
FORCED_TEXTS = {
    Strategy.NONE: "query the model",
    Strategy.LONGEST: "in the longest tokens",
    Strategy.OWN: "as the tokenizer writes",
    Strategy.PROBABLE: "in the likeliest spelling",
}
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "s": " ", "#": "#", "\\": "\\"}
_MARKS = {"\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}
_NUMBER = re.compile(r"#(\d{1,9})")
_TRANSITION = re.compile(r"(\d{1,9})[\s,]+#?(\d{1,9})[\s,]+(\d{1,9})")
_LONGEST = 18
_MOST_NAMED = 3


class UnreadableError(ValueError):
    """An input that cannot be read; the message says what and where."""


def written(text: str) -> str:
    """Return a text in the notation of a field."""
    marked = "".join(_MARKS.get(char, char) for char in text)
    inner = marked.strip(" ")
    start = len(marked) - len(marked.lstrip(" "))
    marked = "\\s" * start + inner + "\\s" * (len(marked) - start - len(inner))
    return "\\" + marked if marked.startswith("#") else marked


def read(typed: str) -> str:
    """Return the text that was typed; spaces around it are ignored.

    Raises:
        UnreadableError: a backslash is followed by a character that it does not escape.
    """

    def replace(found: re.Match[str]) -> str:
        if found[1] not in _ESCAPES:
            raise UnreadableError(f"{found[0]} is no escape; for a backslash itself, type two of them")
        return _ESCAPES[found[1]]

    return re.sub(r"\\(.?)", replace, typed.strip(" "), flags=re.DOTALL)


def written_suppressed(settings: PipelineSettings) -> str:
    """Return texts and tokens, one per line."""
    return "\n".join((*map(written, settings.suppress), *(f"#{number}" for number in settings.suppress_ids)))


def read_suppressed(typed: str) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """Return the texts and the tokens of some lines.

    Raises:
        UnreadableError: a line cannot be read.
    """
    texts, ids = list[str](), list[int]()
    for number, line in _lines(typed):
        if found := _NUMBER.fullmatch(line):
            ids.append(int(found[1]))
        else:
            texts.append(_read_line(number, line))
    return tuple(dict.fromkeys(texts)), tuple(dict.fromkeys(ids))


def written_bias(settings: PipelineSettings) -> str:
    """Return texts or tokens and their biases, one per line."""
    return "\n".join(
        f"{text if _NUMBER.fullmatch(text) else written(text)} = {value:+g}" for text, value in settings.bias
    )


def read_bias(typed: str) -> tuple[tuple[str, float], ...]:
    """Return pairs of a text, or a token's number, and its bias.

    Raises:
        UnreadableError: a line cannot be read.
    """
    found = dict[str, float]()
    for number, line in _lines(typed):
        text, equals, value = (part.strip(" ") for part in line.rpartition("="))
        try:
            added = float(value)
        except ValueError:
            equals = ""
        if not equals or not text:
            raise UnreadableError(f"line {number}: a text, = and a number are expected, such as: the = +2")
        name = text if _NUMBER.fullmatch(text) else _read_line(number, text)
        if name != text and _NUMBER.fullmatch(name):
            raise UnreadableError(f"line {number}: {name} means the token of that number; a text like that has no bias")
        if name in found:
            raise UnreadableError(f"line {number}: {text} has a bias already")
        found[name] = added
    return tuple(found.items())


def written_table(table: TableSettings) -> str:
    """Return transitions, one per line."""
    return "\n".join(" ".join(map(str, transition)) for transition in table.transitions)


def read_table(typed: str, initial: int) -> TableSettings:
    """Return the transitions that were typed.

    Raises:
        UnreadableError: a line is not a transition.
    """
    transitions = []
    for number, line in _lines(typed):
        found = _TRANSITION.fullmatch(line)
        if found is None:
            raise UnreadableError(f"line {number}: a state, a token's number and the next state are expected: 1 42 2")
        transitions.append((int(found[1]), int(found[2]), int(found[3])))
    return TableSettings(tuple(transitions), initial)


def stage_facts(settings: PipelineSettings) -> dict[StageName, str]:
    """Return the settings of each active stage in a few words, without those of the sampler."""
    facts = {
        StageName.GRAMMAR: "" if settings.zones is None else _zone_fact(settings.zones),
        StageName.BUDGET: "within budget" if settings.budget else "",
        StageName.STATIC: f"static {_short(settings.static)}" if settings.static else "",
        StageName.PATTERN: f"pattern {_short(settings.pattern)}" if settings.pattern else "",
        StageName.TABLE: "" if settings.table is None else f"table of {len(settings.table.transitions):,}",
        StageName.SUPPRESS: _suppress_fact(settings),
        StageName.BIAS: _bias_fact(settings),
    }
    return {name: fact for name, fact in facts.items() if fact}


def summary(settings: PipelineSettings) -> str:
    """Return what is active, in the order of the stages; empty at the defaults."""
    facts = stage_facts(settings)
    parts = [facts[name] for name in settings.stages if name in facts]
    if settings.stages != DEFAULT_ORDER:
        parts.append("custom order")
    if settings.forced is not Strategy.NONE:
        parts.append(f"forced runs {FORCED_TEXTS[settings.forced]}")
    return " · ".join(parts)


def budget_line(budget: BudgetState) -> str:
    """Return the tokens left and those that the shortest ending needs; a bound is an estimate."""
    left, least, most = budget.left, budget.at_least, budget.at_most
    if least is None:
        return ui_text("generation.budget.no_ending", left=left)
    if most is None:
        text = ui_text("generation.budget.at_least", left=left, least=least)
    elif most > least:
        text = ui_text("generation.budget.between", left=left, least=least, most=most)
    else:
        text = ui_text("generation.budget.exactly", left=left, least=least)
    return text if budget.is_exact else ui_text("generation.budget.estimate", budget=text)


def trigger_fact(after: str, after_token: str) -> str:
    """Return how a zone begins, in a few words; the texts are in the notation of fields."""
    triggers = [text for text in (after, after_token) if text]
    return f"after {_short(' or '.join(triggers))}" if triggers else "at once"


def _zone_fact(zones: ZoneSettings) -> str:
    parts = [trigger_fact(written(zones.after), zones.after_token)]
    parts += [f"until {_short(written(zones.until))}"] if zones.until else []
    parts += {Afterwards.STOP: [], Afterwards.FREE: ["then free"], Afterwards.AGAIN: ["again"]}[zones.then]
    parts += [f"{len(zones.others) + 1} zones"] if zones.others else []
    return ", ".join(parts)


def _suppress_fact(settings: PipelineSettings) -> str:
    names = [*map(written, settings.suppress), *(f"#{number}" for number in settings.suppress_ids)]
    if not names:
        return ""
    return f"no {_short(', '.join(names))}" if len(names) <= _MOST_NAMED else f"no {len(names)} texts"


def _bias_fact(settings: PipelineSettings) -> str:
    if not settings.bias:
        return ""
    text, value = settings.bias[0]
    return f"bias {_short(written(text))} {value:+g}" if len(settings.bias) == 1 else f"{len(settings.bias)} biases"


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def _lines(typed: str) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(typed.split("\n"), 1):
        if line.strip(" "):
            yield number, line.strip(" ")


def _read_line(number: int, line: str) -> str:
    try:
        return read(line)
    except UnreadableError as error:
        raise UnreadableError(f"line {number}: {error}") from None
