"""The list of a bundle's parts (a CycloneDX SBOM) and the licences of all of them, as files in its folder.

The parts are the distributions by their metadata, what these say that they have compiled in (PEP 770), Python, and the
libraries of the build machine that Python needs.

Rejected: a generator that is one more tool to install, and that reads an environment: a bundle has less.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import subprocess
import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from app.licences import InstalledDistribution, installed_distributions

APPLICATION: Final = "token-turnstile"
SBOM: Final = "sbom.cdx.json"
LICENCES: Final = "THIRD-PARTY-LICENCES.txt"
_RULE: Final = "\n" + "=" * 120 + "\n"


@dataclass(frozen=True, slots=True)
class BundledPart:
    """A part of the bundle that is no Python distribution.

    Attributes:
        name: its name.
        version: its version.
        address: its package URL; empty if it has none.
        licence: the text of its licence.
        digest: the SHA-256 of its file; empty if it is more than one.
    """

    name: str
    version: str
    address: str
    licence: str
    digest: str = ""


def write(folder: Path, contents: Path) -> None:
    """Write the SBOM and the licences into a bundle.

    Args:
        folder: where they are written.
        contents: the folder with the metadata of the distributions and the libraries.
    """
    found = installed_distributions(contents)
    parts = [python(), *libraries(contents)]
    (folder / SBOM).write_text(json.dumps(document(found, parts), indent=1) + "\n", "utf-8")
    (folder / LICENCES).write_text(licence_texts(found, parts), "utf-8")


def document(found: Sequence[InstalledDistribution], parts: Iterable[BundledPart] = ()) -> dict[str, Any]:
    """Return the SBOM in the form of CycloneDX 1.6.

    Args:
        found: the distributions, Turnstile among them.
        parts: the others.
    """
    components = [_component(one) for one in found]
    own = next(one for one in components if one["name"] == APPLICATION)
    others = [one for one in components if one is not own]
    for one in found:
        others += [part for inventory in one.inventories for part in compiled_in(one.name, inventory)]
    others += [_part(part) for part in parts]
    names = "\n".join(sorted(str(one["bom-ref"]) for one in components))
    return {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, names)}",
        "version": 1,
        "metadata": {"component": {**own, "type": "application"}},
        "components": others,
    }


def compiled_in(name: str, inventory: Path) -> list[dict[str, Any]]:
    """Return what a distribution's own SBOM lists.

    Args:
        name: of the distribution.
        inventory: its SBOM; one that is no CycloneDX document in JSON adds nothing.
    """
    try:
        listed = list(json.loads(inventory.read_bytes())["components"])
    except (OSError, ValueError, KeyError, TypeError):
        return []
    kept = ("type", "name", "version", "purl", "licenses", "hashes")
    return [
        {"bom-ref": f"{name}#{inventory.stem}#{number}", **{key: one[key] for key in kept if one.get(key)}}
        for number, one in enumerate(listed)
    ]


def licence_texts(found: Iterable[InstalledDistribution], parts: Iterable[BundledPart]) -> str:
    """Return all licences, each text once, after the names of the parts that have it.

    Args:
        found: the distributions.
        parts: the others.
    """
    owners: dict[str, list[str]] = {}
    named: list[str] = []
    for one in found:
        title = f"{one.name} {one.version}"
        named.append(f"{title}: {one.licence or 'see its text'}")
        for path in one.files:
            if path.is_file():
                owners.setdefault(path.read_text("utf-8", errors="replace").strip(), []).append(title)
    for part in parts:
        named.append(f"{part.name} {part.version}: see its text")
        owners.setdefault(part.licence.strip(), []).append(f"{part.name} {part.version}")
    texts = [f"{', '.join(dict.fromkeys(titles))}\n\n{text}\n" for text, titles in owners.items() if text]
    return _RULE.join(("The parts of this program and their licences\n\n" + "\n".join(named) + "\n", *texts))


def python() -> BundledPart:
    """Return the Python that runs this, with its licence."""
    path = Path(os.__file__).with_name("LICENSE.txt")
    text = path.read_text("utf-8") if path.is_file() else "The licence of Python is at python.org."
    version = platform.python_version()
    return BundledPart("Python", version, f"pkg:generic/python@{version}", text)


def libraries(contents: Path) -> list[BundledPart]:
    """Return the libraries of this Debian system that are in a bundle; none on other systems."""
    parts = []
    for path in sorted(contents.glob("lib*.so*")):
        if path.is_symlink():
            continue
        owner = _ask("dpkg-query", "--search", f"*/{path.name}").partition(":")[0]
        version = _ask("dpkg-query", "--show", "--showformat=${Version}\n", owner) if owner else ""
        text = Path("/usr/share/doc", owner, "copyright") if owner else Path()
        parts.append(
            BundledPart(
                path.name,
                version or "of the build machine",
                f"pkg:deb/debian/{owner}@{version}" if owner else "",
                text.read_text("utf-8", errors="replace") if owner and text.is_file() else "",
                hashlib.sha256(path.read_bytes()).hexdigest(),
            )
        )
    return parts


def _ask(*command: str) -> str:
    """Return the first line that a command prints; empty if it fails."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError:
        return ""
    return next(iter(done.stdout.splitlines()), "") if done.returncode == 0 else ""


def _component(one: InstalledDistribution) -> dict[str, Any]:
    reference = f"pkg:pypi/{one.name.lower().replace('_', '-')}@{one.version.replace('+', '%2B')}"
    licence: dict[str, Any] = {}
    if one.licence:
        is_expression = any(word in one.licence.split() for word in ("AND", "OR", "WITH"))
        licence = {"licenses": [{"expression": one.licence} if is_expression else {"license": {"name": one.licence}}]}
    return {
        "type": "library",
        "bom-ref": reference,
        "name": one.name,
        "version": one.version,
        "purl": reference,
        **licence,
    }


def _part(part: BundledPart) -> dict[str, Any]:
    address = {"purl": part.address} if part.address else {}
    hashes = {"hashes": [{"alg": "SHA-256", "content": part.digest}]} if part.digest else {}
    return {
        "type": "library",
        "bom-ref": f"part:{part.name}",
        "name": part.name,
        "version": part.version,
        **address,
        **hashes,
    }
