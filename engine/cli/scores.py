"""The scores of an output as a table and as data, for `turnstile diagnose`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from engine.diagnosis.scores.key_choices import KeyChoice, LostKey
from engine.diagnosis.scores.output_scores import ScoredOutput
from engine.diagnosis.scores.token_scores import TokenScore, worst_steps
from engine.diagnosis.verdicts.verdict import position_of_byte
from engine.source.catalogue import catalogue_text
from engine.source.number_format import percent
from engine.vocabulary.visible import visible

_MOST_STEPS: Final = 5
_MOST_KEYS: Final = 8
_COLUMNS: Final = ("place", "token", "p", "z", "rank", "wanted")


def scores_data(scored: ScoredOutput | None) -> dict[str, object]:
    """Return the scores as parts of a document: `scores`, `worst`, `keys` and `lost_keys`."""
    if scored is None:
        return {"scores": [], "worst": [], "keys": [], "lost_keys": []}
    return {
        "scores": [_score_data(one) for one in scored.scores],
        "worst": [one.index for one in worst_steps(scored.scores, _MOST_STEPS)],
        "keys": [
            {
                "start": one.start,
                "key": one.key,
                "p": one.p,
                "wanted": one.wanted,
                "wanted_p": one.wanted_p,
                "allowed": one.is_allowed,
            }
            for one in scored.choices
        ],
        "lost_keys": [{"start": one.start, "key": one.key, "by": one.by} for one in scored.lost],
    }


def _score_data(score: TokenScore) -> dict[str, object]:
    return {
        "index": score.index,
        "id": score.token_id,
        "token": score.data.decode("utf-8", "backslashreplace"),
        "start": score.start,
        "p": score.p,
        "logprob": None if score.logprob in (None, float("-inf")) else score.logprob,
        "rank": score.rank,
        "z": score.z,
        "z_most": score.z_most,
        "allowed": score.is_allowed,
        "wanted": score.wanted.decode("utf-8", "backslashreplace"),
        "wanted_p": score.wanted_p,
    }


def score_lines(scored: ScoredOutput) -> list[str]:
    """Return the worst steps as a table, and what is known about the keys."""
    worst = worst_steps(scored.scores, _MOST_STEPS)
    if not worst:
        return []
    count = len(scored.scores)
    lines = ["", catalogue_text(f"cli.diagnose.scores.{scored.origin}", count=count)]
    if scored.left_out:
        lines.append(catalogue_text("cli.diagnose.scores.left_out", count=scored.left_out))
    heads = [catalogue_text(f"cli.diagnose.column.{name}") for name in _COLUMNS]
    lines += _table([heads, *(_row(scored.text, one) for one in worst)])
    lines += [_choice_line(scored.text, one) for one in scored.choices[:_MOST_KEYS]]
    lines += [_lost_line(scored.text, one) for one in scored.lost[:_MOST_KEYS]]
    rest = max(0, len(scored.choices) - _MOST_KEYS) + max(0, len(scored.lost) - _MOST_KEYS)
    if rest:
        lines.append(catalogue_text("cli.diagnose.scores.more", count=rest))
    return lines


def _row(text: bytes, score: TokenScore) -> list[str]:
    at = position_of_byte(text, score.start)
    z = "" if score.z is None else percent(score.z)
    if score.z_most is not None and score.z_most != score.z:
        z = catalogue_text("cli.diagnose.scores.between", least=z, most=percent(score.z_most))
    if score.is_allowed is False:
        z = catalogue_text("cli.diagnose.scores.masked", z=z)
    wanted = ""
    if score.wanted_p is not None and score.wanted != score.data:
        wanted = f"{visible(score.wanted)}  {percent(score.wanted_p)}"
    rank = "" if score.rank is None else str(score.rank)
    p = "" if score.p is None else percent(score.p)
    return [f"{at.line}:{at.column}", visible(score.data), p, z, rank, wanted]


def _table(rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def _choice_line(text: bytes, choice: KeyChoice) -> str:
    at = position_of_byte(text, choice.start)
    fields = {
        "where": f"{at.line}:{at.column}",
        "p": percent(choice.p),
        "wanted": choice.wanted,
        "wanted_p": percent(choice.wanted_p),
        "forbidden": catalogue_text("cli.diagnose.scores.forbidden") if choice.is_allowed is False else "",
    }
    if not choice.key:
        return catalogue_text("cli.diagnose.scores.key_at_end", **fields)
    return catalogue_text("cli.diagnose.scores.key", key=choice.key, **fields)


def _lost_line(text: bytes, lost: LostKey) -> str:
    at = position_of_byte(text, lost.start)
    where = f"{at.line}:{at.column}"
    if not lost.by:
        return catalogue_text("cli.diagnose.scores.left_out_key", where=where, key=lost.key)
    return catalogue_text("cli.diagnose.scores.lost", where=where, key=lost.key, by=lost.by)
