"""The scores of an output in words, for the console and the window."""

from __future__ import annotations

from engine.diagnosis.scores.key_choices import KeyChoice, LostKey
from engine.diagnosis.scores.output_scores import ScoredOutput
from engine.diagnosis.scores.token_scores import BlanksWritten, TokenScore, blank_runs
from engine.diagnosis.verdicts.verdict import position_of_byte
from engine.source.catalogue import catalogue_text
from engine.source.number_format import percent, percent_between
from engine.vocabulary.visible import visible


def place_text(text: bytes, start: int) -> str:
    """Return the line and the column of a byte of an output."""
    at = position_of_byte(text, start)
    return f"{at.line}:{at.column}"


def mass_text(score: TokenScore) -> str:
    """Return the allowed mass, or its bounds; empty if it is unknown."""
    z = "" if score.z is None or score.z_most is None else percent_between(score.z, score.z_most)
    return catalogue_text("diagnosis.scores.fragment.masked", z=z) if score.is_allowed is False else z


def wanted_text(score: TokenScore) -> str:
    """Return the most probable token with its probability; empty if it is the token itself, or unknown."""
    if score.wanted_p is None or score.wanted == score.data:
        return ""
    return f"{visible(score.wanted)}  {percent(score.wanted_p)}"


def score_notes(scored: ScoredOutput) -> list[str]:
    """Return what the scores show: blanks in place of what the model wanted, its choices of keys, and lost keys.

    First is said what they are not, if they are from behind the mask.
    """
    text = scored.text
    return [
        *([catalogue_text("diagnosis.scores.masked")] if scored.is_masked else []),
        *(_blank_line(text, one) for one in blank_runs(scored.scores)),
        *(_choice_line(text, one) for one in scored.choices),
        *(_lost_line(text, one) for one in scored.lost),
    ]


def _blank_line(text: bytes, run: BlanksWritten) -> str:
    wanted = {"wanted": visible(run.score.wanted), "wanted_p": percent(run.score.wanted_p or 0.0)}
    where = place_text(text, run.score.start)
    return catalogue_text("diagnosis.scores.blanks", where=where, count=run.n_tokens, **wanted)


def _choice_line(text: bytes, choice: KeyChoice) -> str:
    forbidden = catalogue_text("diagnosis.scores.fragment.forbidden") if choice.is_allowed is False else ""
    fields = {
        "where": place_text(text, choice.start),
        "p": percent(choice.p),
        "wanted": choice.wanted,
        "wanted_p": percent(choice.wanted_p),
        "forbidden": forbidden,
    }
    if not choice.key:
        return catalogue_text("diagnosis.scores.key_at_end", **fields)
    return catalogue_text("diagnosis.scores.key", key=choice.key, **fields)


def _lost_line(text: bytes, lost: LostKey) -> str:
    where = place_text(text, lost.start)
    if not lost.by:
        return catalogue_text("diagnosis.scores.left_out_key", where=where, key=lost.key)
    return catalogue_text("diagnosis.scores.lost", where=where, key=lost.key, by=lost.by)
