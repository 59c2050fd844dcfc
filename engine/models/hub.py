"""Models of the Hugging Face Hub, from its local cache or downloaded.

A download contains only the configuration, the tokenizer and safetensors, but neither
pickles nor Python files.
"""

from __future__ import annotations

import os
from pathlib import Path

from engine.models.downloads import ChildResult, bytes_under, run_child
from engine.models.source import ModelError
from engine.source import CancelToken
from engine.source.catalogue import catalogue_text

_FILE_PATTERNS = ["*.json", "*.safetensors", "*.jinja", "*.txt", "*.model", "*.tiktoken"]
_FETCH_SCRIPT = """
import sys
from huggingface_hub import snapshot_download
print(snapshot_download(sys.argv[1], allow_patterns=sys.argv[2:]))
"""


def hub_folder(repository: str, cancel: CancelToken) -> Path:
    """Return the local folder of a Hub model (`owner/name`), downloading it if it is not in the Hub's cache.

    Raises:
        ModelError: the Hub cannot be reached, or does not provide the model.
        CancelledError: the work was cancelled; the next download resumes from the Hub's cache.
    """
    cached = cached_folder(repository)
    if cached is not None:
        return cached
    from huggingface_hub import constants

    folder = Path(constants.HF_HUB_CACHE) / f"models--{repository.replace('/', '--')}"
    initial_bytes = bytes_under(folder)
    stage = catalogue_text("sources.stage.download", name=repository)

    def report() -> None:
        cancel.report(stage, max(0, bytes_under(folder) - initial_bytes))

    report()
    quiet = {"HF_HUB_DISABLE_PROGRESS_BARS": "1", "HF_HUB_DISABLE_TELEMETRY": "1"}
    result = run_child(["-c", _FETCH_SCRIPT, repository, *_FILE_PATTERNS], {**os.environ, **quiet}, cancel, report)
    if result.status != 0:
        raise _fetch_error(repository, result)
    cached = cached_folder(repository)
    if cached is None:
        raise ModelError("errors.models.hub_no_weights", repository=repository)
    return cached


def cached_folder(repository: str) -> Path | None:
    """Return the local folder of a Hub model, if the Hub's cache contains the whole model."""
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HFValidationError, LocalEntryNotFoundError

    try:
        folder = Path(snapshot_download(repository, local_files_only=True))
    except LocalEntryNotFoundError:
        return None
    except HFValidationError as error:
        raise ModelError("errors.models.no_hub_id", repository=repository) from error
    complete = (folder / "config.json").is_file() and any(folder.glob("*.safetensors"))
    return folder if complete else None


def cached_tokenizer(repository: str) -> Path | None:
    """Return the tokenizer of a Hub model in the Hub's cache; None if it is not there, or if the name is no Hub id."""
    from huggingface_hub import try_to_load_from_cache
    from huggingface_hub.errors import HFValidationError

    try:
        found = try_to_load_from_cache(repository, "tokenizer.json")
    except HFValidationError:
        return None
    return Path(found).parent if isinstance(found, str) else None


def _fetch_error(repository: str, result: ChildResult) -> ModelError:
    output = result.output
    if "GatedRepoError" in output:
        return ModelError("errors.models.gated", repository=repository)
    if "RepositoryNotFoundError" in output:
        return ModelError("errors.models.not_on_hub", repository=repository)
    if "No space left" in output:
        return ModelError("errors.models.full_disk", repository=repository)
    if "LocalEntryNotFoundError" in output or "ConnectError" in output or "OfflineModeIsEnabled" in output:
        return ModelError("errors.models.hub_unreachable", repository=repository)
    return ModelError("errors.models.not_fetched", repository=repository, reason=result.last_line()[:200])
