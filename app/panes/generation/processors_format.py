r"""The text format of the processors' fields, and short descriptions of stages.

Texts of a zone, suppressed texts and biased texts may contain spaces at their ends and line breaks, which a line of a
field cannot. They are written as `\n`, `\t`, `\r`, `\s` (a space), `\#` and `\\`. `#123` is the token of that number.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Final

from app.catalogue import has_text, ui_text
from app.display_text import alternatives
from engine.decoding.forced.strategies import STRATEGIES
from engine.decoding.pipeline_settings import (
    Afterwards,
    PipelineSettings,
    TableSettings,
    ZoneSettings,
)
from engine.decoding.stage import Field, Stage
from engine.decoding.stage_texts import stage_key, stage_title
from engine.decoding.stages import STAGES, pipeline_stages
from engine.decoding.values import BudgetState

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
            raise UnreadableError(ui_text("generation.unreadable.fragment.escape", text=found[0]))
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
            raise UnreadableError(_in_line(number, ui_text("generation.unreadable.fragment.bias")))
        name = text if _NUMBER.fullmatch(text) else _read_line(number, text)
        if name != text and _NUMBER.fullmatch(name):
            raise UnreadableError(_in_line(number, ui_text("generation.unreadable.fragment.token", text=name)))
        if name in found:
            raise UnreadableError(_in_line(number, ui_text("generation.unreadable.fragment.twice", text=text)))
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
            raise UnreadableError(_in_line(number, ui_text("generation.unreadable.fragment.transition")))
        transitions.append((int(found[1]), int(found[2]), int(found[3])))
    return TableSettings(tuple(transitions), initial)


def number_text(value: float) -> str:
    """Return a number without needless digits."""
    return str(value) if isinstance(value, int) else f"{value:g}"


def stage_values(settings: PipelineSettings) -> dict[str, str]:
    """Return the active stages, without those of the sampler, and their settings in a few words."""
    return {stage.name: _description(stage, settings) for stage in pipeline_stages() if settings.is_on(stage.name)}


def _description(stage: Stage, settings: PipelineSettings) -> str:
    """Describe the settings of a stage; of several, those that are not the defaults, with their titles."""
    if len(stage.fields) == 1:
        return _DESCRIPTIONS[stage.fields[0].type](stage.fields[0], settings)
    changed = (field for field in stage.fields if settings.value(field.name) != field.default)
    titled = ((ui_text(f"generation.field.{one.name}"), _DESCRIPTIONS[one.type](one, settings)) for one in changed)
    return ", ".join(f"{title[:1].lower()}{title[1:]} {value}" for title, value in titled)


def summary(settings: PipelineSettings) -> str:
    """Return what is active, in the order of the stages; empty at the defaults."""
    values = stage_values(settings)
    parts = [_named(stage, values[stage]) for stage in settings.stages if stage in values]
    if settings.stages != STAGES.names:
        parts.append(ui_text("generation.processors.fragment.custom_order"))
    strategy = STRATEGIES[settings.forced]
    if strategy.takes_runs:
        parts.append(ui_text("generation.processors.fragment.forced", strategy=strategy.title))
    return " · ".join(parts)


def _named(stage: str, value: str) -> str:
    """Return the value of a stage with the stage's name, if the value does not imply it."""
    if not has_text(f"generation.stage.{stage_key(stage)}.fragment.summary"):
        return value or stage_title(stage)
    fields = {"value": value} if value else {}
    return ui_text(f"generation.stage.{stage_key(stage)}.fragment.summary", **fields)


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


def trigger_text(after: str, after_token: str) -> str:
    """Return how a zone begins, in a few words; the texts are in the notation of fields."""
    triggers = [text for text in (after, after_token) if text]
    if not triggers:
        return ui_text("generation.zone.fragment.at_once")
    return ui_text("generation.zone.fragment.after", text=_short(alternatives(triggers)))


def _zone_value(zones: ZoneSettings) -> str:
    parts = [trigger_text(written(zones.after), zones.after_token)]
    if zones.until:
        parts.append(ui_text("generation.zone.fragment.until", text=_short(written(zones.until))))
    if zones.then != Afterwards.STOP:
        parts.append(ui_text(f"generation.zone.fragment.{Afterwards(zones.then).value}"))
    if zones.others:
        parts.append(ui_text("generation.zone.fragment.zones", total=len(zones.others) + 1))
    return ", ".join(parts)


def _suppress_value(settings: PipelineSettings) -> str:
    names = [*map(written, settings.suppress), *(f"#{number}" for number in settings.suppress_ids)]
    many = ui_text("generation.processors.fragment.texts", total=len(names))
    value = many if len(names) > _MOST_NAMED else _short(", ".join(names))
    return ui_text("generation.processors.fragment.suppress", value=value)


def _bias_value(settings: PipelineSettings) -> str:
    if len(settings.bias) > 1:
        return ui_text("generation.processors.fragment.texts", total=len(settings.bias))
    text, value = settings.bias[0]
    return f"{_short(written(text))} {value:+g}"


_DESCRIPTIONS: Final[Mapping[str, Callable[[Field, PipelineSettings], str]]] = {
    "switch": lambda _field, _settings: "",
    "budget": lambda _field, _settings: "",
    "line": lambda field, settings: _short(settings.value(field.name)),
    "number": lambda field, settings: f"{number_text(settings.value(field.name))} {field.unit}".strip(),
    "texts": lambda _field, settings: _suppress_value(settings),
    "biases": lambda _field, settings: _bias_value(settings),
    "transitions": lambda field, settings: ui_text(
        "common.count.transitions", count=len(settings.value(field.name).transitions)
    ),
    "zones": lambda field, settings: _zone_value(settings.value(field.name)),
}
"""The functions that describe a value in a few words, by the type of its field."""


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
        raise UnreadableError(_in_line(number, str(error))) from None


def _in_line(number: int, reason: str) -> str:
    return ui_text("generation.unreadable.fragment.line", number=number, reason=reason)
