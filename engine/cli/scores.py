"""The scores of an output as a table and as data, for `turnstile diagnose`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from engine.diagnosis.scores.output_scores import ScoredOutput
from engine.diagnosis.scores.score_texts import mass_text, place_text, score_notes, wanted_text
from engine.diagnosis.scores.token_scores import TokenScore, blank_runs, worst_steps
from engine.source.catalogue import catalogue_text
from engine.source.number_format import percent
from engine.vocabulary.visible import visible

_MOST_STEPS: Final = 5
_MOST_NOTES: Final = 16
_COLUMNS: Final = ("place", "token", "p", "z", "rank", "wanted")


def scores_data(scored: ScoredOutput | None) -> dict[str, object]:
    """Return the scores as parts of a document: `scores`, `worst`, `blanks`, `keys`, `lost_keys`."""
    if scored is None:
        return {"scores": [], "worst": [], "blanks": [], "keys": [], "lost_keys": []}
    return {
        "scores": [_score_data(one) for one in scored.scores],
        "worst": [one.index for one in worst_steps(scored.scores, _MOST_STEPS)],
        "blanks": [{"index": one.score.index, "tokens": one.n_tokens} for one in blank_runs(scored.scores)],
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
    """Return the worst steps as a table, and notes about blanks and keys."""
    worst = worst_steps(scored.scores, _MOST_STEPS)
    if not worst:
        return []
    count = len(scored.scores)
    lines = ["", catalogue_text(f"cli.diagnose.scores.{scored.origin}", count=count)]
    if scored.left_out:
        lines.append(catalogue_text("cli.diagnose.scores.left_out", count=scored.left_out))
    heads = [catalogue_text(f"cli.diagnose.column.{name}") for name in _COLUMNS]
    lines += _table([heads, *(_row(scored.text, one) for one in worst)])
    notes = score_notes(scored)
    lines += notes[:_MOST_NOTES]
    if len(notes) > _MOST_NOTES:
        lines.append(catalogue_text("cli.diagnose.scores.more", count=len(notes) - _MOST_NOTES))
    return lines


def _row(text: bytes, score: TokenScore) -> list[str]:
    rank = "" if score.rank is None else str(score.rank)
    p = "" if score.p is None else percent(score.p)
    return [place_text(text, score.start), visible(score.data), p, mass_text(score), rank, wanted_text(score)]


def _table(rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
