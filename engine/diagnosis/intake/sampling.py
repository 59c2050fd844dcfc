"""The settings of the sampler in a request, under the names that the sampler and its stages have here.

Servers call the same thing by several names, count windows from different defaults, and switch stages off by different
values. Sources: llama.cpp's `tools/server/README.md` and `common/common.h`, Ollama's `api/types.go`, vLLM's
`sampling_params.py` and SGLang's `sampling_params.py`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from engine.decoding.pipeline_settings import PipelineSettings
from engine.decoding.stage import Field
from engine.decoding.stages import STAGES
from engine.diagnosis.intake.servers import LLAMA_CPP, OLLAMA

Sampling = tuple[tuple[str, float | str], ...]
"""Pairs of the name of a setting and its value."""

_NAMES: Final = {
    "top_p": "top_p",
    "min_p": "min_p",
    "repetition_penalty": "repetition_penalty",
    "repeat_penalty": "repetition_penalty",
    "frequency_penalty": "frequency_penalty",
    "presence_penalty": "presence_penalty",
    "typical_p": "typical_p",
    "dry_multiplier": "dry_multiplier",
    "dry_base": "dry_base",
    "dry_allowed_length": "dry_allowed_length",
    "xtc_probability": "xtc_probability",
    "xtc_threshold": "xtc_threshold",
    "mirostat": "mirostat",
    "mirostat_tau": "mirostat_tau",
    "mirostat_eta": "mirostat_eta",
}
"""The settings that have one meaning everywhere, by their names in requests."""
_WINDOWS: Final = "repeat_last_n", "dry_penalty_last_n"
_LAST_N: Final = 64  # `repeat_last_n` of llama.cpp and Ollama where a request has none
_MOST: Final = 1e9
_UNREAD: Final = """epsilon_cutoff eta_cutoff top_a tfs tfs_z top_n_sigma dynatemp_range dynatemp_exponent
    smoothing_factor smoothing_curve logit_bias samplers penalize_nl adaptive_target adaptive_decay no_repeat_ngram_size
    encoder_repetition_penalty length_penalty min_keep""".split()
"""Settings of samplers that Turnstile does not have, or reads nowhere."""


def read_sampling(holders: Sequence[Mapping[str, Any]], server: str) -> tuple[Sampling, list[str]]:
    """Return the settings of a request, and the names of those that are not applied.

    Args:
        holders: the body, and the objects in it that have settings; the first that has one counts.
        server: the server that the request is for; empty if unknown.
    """
    given = {name: value for holder in reversed(holders) for name, value in holder.items() if value is not None}
    values: dict[str, float | str] = {}
    dropped = [name for name in _UNREAD if given.get(name) not in (None, 0, -1, [], {}, "")]
    for name, setting in _NAMES.items():
        if name in given:
            value = _number(given[name], _FIELDS[setting])
            if value is None:
                dropped.append(name)
            else:
                values[setting] = value
    counts_last = server in (LLAMA_CPP, OLLAMA) or "repeat_last_n" in given or "repeat_penalty" in given
    dropped += _read_windows(given, values, counts_last=counts_last)
    breakers = given.get("dry_sequence_breakers")
    if isinstance(breakers, list) and all(isinstance(one, str) and one for one in breakers):
        values["dry_breakers"] = json.dumps(breakers, ensure_ascii=False)
    elif breakers is not None:
        dropped.append("dry_sequence_breakers")
    if values.get("mirostat") and server in (LLAMA_CPP, OLLAMA):
        beside = [name for name in values if not name.startswith("mirostat")]
        dropped += beside  # llama.cpp builds a chain of temperature and mirostat alone
        values = {name: value for name, value in values.items() if name not in beside}
    changed = {name: value for name, value in values.items() if value != _FIELDS[name].default}
    return tuple(changed.items()), list(dict.fromkeys(dropped))


def _read_windows(given: Mapping[str, Any], values: dict[str, float | str], *, counts_last: bool) -> list[str]:
    """Read the windows of the penalties: -1 is the whole context, 0 switches them off.

    Returns:
        The names of those that are no windows.
    """
    sizes = {name: given.get(name) for name in _WINDOWS}
    wrong = [name for name, size in sizes.items() if size is not None and not _is_window(size)]
    last, dry = (None if name in wrong else sizes[name] for name in _WINDOWS)
    if counts_last:
        penalties = "repetition_penalty", "frequency_penalty", "presence_penalty"
        size = _LAST_N if last is None else last
        if size == 0:
            for name in penalties:
                values.pop(name, None)
        elif any(name in values for name in penalties):
            if "repetition_penalty" in values:
                values["repetition_window"] = max(size, 0)
            if values.keys() & set(penalties[1:]):
                values["penalty_window"] = max(size, 0)
    if dry == 0:
        values.pop("dry_multiplier", None)
    elif dry is not None and dry > 0:
        values["dry_window"] = dry
    return wrong


def _is_window(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= -1


def _number(value: Any, field: Field) -> float | None:
    """Return a value within the bounds of a setting; None for any other."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not field.allows(value) or value > _MOST:
        return None
    number: float = type(field.default)(value)
    return number if number == value else None


_FIELDS: Final = {field.name: field for stage in STAGES for field in stage.fields}


def with_sampling(before: PipelineSettings, sampling: Sampling) -> PipelineSettings:
    """Return the settings of a pipeline with those of a request that are not the sampler's."""
    names = {name for stage in STAGES if not stage.is_sampler for name in stage.field_names}
    return before.with_values({name: value for name, value in sampling if name in names})
