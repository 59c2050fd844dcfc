"""The distributions of this installation with their licences, from the metadata that each of them has.

It is the same in an environment of pip and in a bundle, whose metadata `packaging/bundle.spec` keeps.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from email.message import Message
from importlib.metadata import Distribution, distributions
from pathlib import Path
from typing import Final, cast

_CLASSIFIER: Final = "License :: OSI Approved :: "
_TEXT: Final = re.compile(r"(licen[cs]e|copying|notice|authors|copyright)", re.IGNORECASE)
_LONGEST_NAME: Final = 60  # characters; a longer field is the text of a licence


@dataclass(frozen=True, slots=True)
class InstalledDistribution:
    """A distribution and its licence.

    Attributes:
        name: its name.
        version: its version.
        licence: an SPDX expression or the name of a licence; empty if the metadata has none.
        files: the texts of its licences, if they are part of it.
        inventories: lists of what is compiled into it (PEP 770).
    """

    name: str
    version: str
    licence: str
    files: tuple[Path, ...]
    inventories: tuple[Path, ...]


def installed_distributions(folder: Path | None = None) -> tuple[InstalledDistribution, ...]:
    """Return the distributions by name.

    Args:
        folder: where their metadata is; by default the import path of this process.
    """
    found = distributions() if folder is None else distributions(path=[str(folder)])
    by_name: dict[str, InstalledDistribution] = {}
    for one in found:
        by_name.setdefault(one.name.casefold(), _read(one))
    return tuple(by_name[name] for name in sorted(by_name))


def _read(one: Distribution) -> InstalledDistribution:
    paths = [path for path in one.files or () if ".dist-info" in path.parts[0]]
    files = [path for path in paths if len(path.parts) > 1 and _TEXT.search(path.parts[1])]
    inventories = [path for path in paths if path.parts[1:2] == ("sboms",)]
    return InstalledDistribution(
        one.name,
        one.version,
        _licence(cast("Message", one.metadata)),
        tuple(Path(str(one.locate_file(path))) for path in files),
        tuple(Path(str(one.locate_file(path))) for path in inventories),
    )


def _licence(fields: Message) -> str:
    return next(iter(_names(fields)), "")


def _names(fields: Message) -> Iterator[str]:
    """Yield the names of a licence, the most exact first."""
    yield from fields.get_all("License-Expression", ())
    named = [line.strip() for line in fields.get_all("License", ())]
    yield from (line for line in named if line and len(line) <= _LONGEST_NAME and "\n" not in line)
    classified = [line.removeprefix(_CLASSIFIER) for line in fields.get_all("Classifier", ()) if _CLASSIFIER in line]
    if classified:
        yield ", ".join(classified)
