"""Provenance of an export: source, options, vocabulary and version, stored in the file itself."""

from __future__ import annotations

from dataclasses import fields
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from engine.export.target import ExportJob
from engine.notations import NOTATIONS


def generator() -> str:
    """Return this program's name and version."""
    try:
        return f"Turnstile {version('token-turnstile')}"
    except PackageNotFoundError:
        return "Turnstile (unreleased)"


def provenance(job: ExportJob, *options: str) -> dict[str, Any]:
    """Return the provenance as JSON data, in a fixed order.

    Args:
        job: the export job.
        options: the names of the export options that the target used.
    """
    compiled, options_given = job.compiled, job.options
    found: dict[str, Any] = {
        "generator": generator(),
        "notation": compiled.notation,
        "source": compiled.source.text,
        "options": {name: getattr(compiled.options, name) for name in NOTATIONS[compiled.notation].option_names},
    }
    heeded = {one.name: getattr(options_given, one.name) for one in fields(options_given) if one.name in options}
    found["options"] |= {name: value for name, value in heeded.items() if value not in (None, "")}
    if job.vocabulary is not None:
        found["vocabulary"] = {
            "fingerprint": job.vocabulary.fingerprint,
            "size": job.vocabulary.size,
            "eos": sorted(job.vocabulary.eos_ids),
        }
    return found


def provenance_lines(job: ExportJob, *options: str) -> tuple[str, ...]:
    """Return the provenance as lines for a comment, the source last and indented; no line has a control character."""
    return (*_head_lines(job, *options), *_source_lines(job))


def _head_lines(job: ExportJob, *options: str) -> tuple[str, ...]:
    """Return the generator, notation, options and vocabulary as a line or two for a comment."""
    found = provenance(job, *options)
    given = shown(", ".join(f"{name} {value}" for name, value in found["options"].items()))
    lines = [
        f"Written by {found['generator']}; notation: {NOTATIONS[found['notation']].title}{given and f' ({given})'}"
    ]
    if "vocabulary" in found:
        of = found["vocabulary"]
        lines.append(f"Vocabulary: {of['size']:,} ids, EOS {of['eos']}, fingerprint {of['fingerprint']}")
    return tuple(lines)


def _source_lines(job: ExportJob) -> tuple[str, ...]:
    """Return the source as lines for a comment, indented."""
    return ("Source:", *(f"  {shown(line)}".rstrip() for line in job.compiled.source.text.split("\n")))


def indented_provenance(job: ExportJob, *options: str) -> str:
    """Return the provenance as a block of text in Markdown."""
    return "\n".join(f"    {line}".rstrip() for line in provenance_lines(job, *options))


def comment(lines: tuple[str, ...], mark: str = "#") -> str:
    """Return lines as comments, each with its line end."""
    return "".join(f"{mark} {line}".rstrip() + "\n" for line in lines)


def commented(job: ExportJob, text: str, mark: str, notes: tuple[str, ...] = (), *options: str) -> str:
    """Return a text with comments: the generator and omissions before it, the source after it.

    Args:
        job: the export job.
        text: the text, with a final line end.
        mark: the start of a comment line.
        notes: what it leaves out.
        options: the names of the export options that the target used.
    """
    return f"{comment((*_head_lines(job, *options), *notes), mark)}{text}{comment(_source_lines(job), mark)}"


def shown(line: str) -> str:
    """Return a text in one line of printable characters; others are escaped as in Python."""
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode("ascii") for char in line)
