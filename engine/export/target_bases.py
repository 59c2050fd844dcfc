"""Common parts of targets: a small base for rules as text, drawings, and Python packages, and shared functions."""

from __future__ import annotations

import json
import re
import tomllib
from typing import Any, Final

from engine.compile import CompiledGrammar
from engine.export.checks import CompiledRecogniser, recogniser_of, scope_of, walk_side_by_side, walk_tokens
from engine.export.graph.dot import read_dot
from engine.export.graph.drawing import drawing, drawing_refusal, drawn_grammar
from engine.export.provenance import indented_provenance
from engine.export.runtimes import GUIDE, runtime_files
from engine.export.runtimes.guide import Guide
from engine.export.tables.rule_tables import as_text, tables_document, tables_of
from engine.export.target import Artifact, Check, ExportJob, MismatchError, OptionName, TargetGroup, TargetTexts
from engine.export.text.plain_grammar import refusal, spelled
from engine.source.catalogue import catalogue_text


class RulesTarget(TargetTexts):
    """The part of a `Target` that all rule targets share."""

    group = TargetGroup.TEXT
    is_folder = False
    needs_vocabulary = False

    def supported_options(self, compiled: CompiledGrammar) -> frozenset[OptionName]:
        """Return the supported options; see `Target`."""
        return spelled(compiled)

    def refusal(self, job: ExportJob) -> str:
        """Return why a grammar does not fit; see `Target`."""
        return refusal(job.compiled, job.options)


class DrawingTarget(TargetTexts):
    """The part of a `Target` that all drawings share."""

    group = TargetGroup.PICTURE
    is_folder = False
    needs_vocabulary = False

    def supported_options(self, compiled: CompiledGrammar) -> frozenset[OptionName]:
        """Return the supported options; see `Target`."""
        return frozenset()

    def refusal(self, job: ExportJob) -> str:
        """Return why a grammar does not fit; only `make` finds out whether it is too large to draw."""
        return drawing_refusal(job.compiled)


def check_picture(job: ExportJob, shown: str) -> Check:
    """Check a picture by the text that Graphviz drew; `shown` is a sentence about the picture."""
    text, _, _ = drawing(job)
    return check_drawn(job, text, catalogue_text("export.compared.fragment.drawn"), shown)


def check_drawn(job: ExportJob, text: str, compared: str, shown: str = "") -> Check:
    """Compare the text of a drawing with the engine.

    Args:
        job: the export job.
        text: the drawn text, in the DOT language.
        compared: as for `Check`.
        shown: what was seen in the picture, a sentence.

    Raises:
        MismatchError: they differ.
        CancelledError: the job was cancelled.
    """
    engine = CompiledRecogniser(drawn_grammar(job.compiled, job.cancel))
    fewer = job.compiled.describes_json
    walks, steps = walk_side_by_side(job, engine, recogniser_of(read_dot(text)), holds_fewer=fewer)
    return Check(compared, walks, steps, f"{shown} {scope_of(job.compiled)}".strip())


DATA: Final = "grammar.json"
_PREFIX: Final = "turnstile_"
_LONGEST: Final = 60


class PackageTarget(TargetTexts):
    """The part of a `Target` that all Python packages share.

    Attributes:
        modules: the modules of `runtimes` that a package has besides the guide.
    """

    group = TargetGroup.ELSEWHERE
    suffix = ""
    is_folder = True
    needs_vocabulary = True
    modules: tuple[str, ...] = ()

    def supported_options(self, compiled: CompiledGrammar) -> frozenset[OptionName]:
        """Return the supported options; see `Target`."""
        return frozenset({"name"})

    def refusal(self, job: ExportJob) -> str:
        """Return why a grammar does not fit; see `Target`."""
        return empty_refusal(job.compiled)

    def check(self, artifact: Artifact, job: ExportJob) -> Check:
        """Check that the modules are the tested ones, and that the data, run by them, have the right masks."""
        folder = package_name(job.options.name)
        for path, content in runtime_files((*GUIDE, *self.modules)):
            if artifact.file(f"{folder}/{path}") != content:
                raise MismatchError("errors.export.package.not_written", folder=folder, path=path)
        document: dict[str, Any] = json.loads(artifact.file(f"{folder}/{DATA}"))
        vocabulary = job.need_vocabulary()
        if document["vocabulary"]["fingerprint"] != vocabulary.fingerprint:
            raise MismatchError("errors.export.package.other_vocabulary")
        compared = catalogue_text("export.compared.fragment.package")
        return Check(compared, *walk_tokens(job, Guide(document), holds_fewer=bool(document["notes"])))


def package_name(name: str) -> str:
    """Return the import name of a grammar's package; other characters become underscores."""
    words = re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")[:_LONGEST].strip("_")
    return _PREFIX + (words.removeprefix(_PREFIX) or "grammar")


def empty_refusal(compiled: CompiledGrammar) -> str:
    """Return why there is nothing to run; empty if there is."""
    return catalogue_text("export.refusal.fragment.no_token") if compiled.is_empty else ""


def grammar_files(
    job: ExportJob, folder: str, modules: tuple[str, ...], init: str
) -> tuple[tuple[tuple[str, bytes], ...], tuple[str, ...]]:
    """Return a package with the guide, other modules and the grammar's data.

    Args:
        job: the export job.
        folder: its folder.
        modules: modules of `runtimes` besides the guide.
        init: the content of its `__init__.py`.

    Returns:
        The files, and the notes on what they leave out.

    Raises:
        NotExportableError: the vocabulary lacks a token that the grammar names.
        GrammarError: the grammar cannot be written as rules.
    """
    tables = tables_of(job.compiled, cancel=job.cancel)
    document = tables_document(job, tables)
    inner = (("__init__.py", init.encode()), *runtime_files((*GUIDE, *modules)), (DATA, as_text(document)))
    return tuple((f"{folder}/{path}", content) for path, content in inner), tables.notes


def pyproject(folder: str, about: str, entry_points: str = "", depends: tuple[str, ...] = ()) -> bytes:
    """Return the `pyproject.toml` of a package.

    Args:
        folder: the package's folder.
        about: its description.
        entry_points: tables of entry points, as TOML.
        depends: its dependencies.
    """
    return (
        '[build-system]\nrequires = ["setuptools>=64"]\nbuild-backend = "setuptools.build_meta"\n\n'
        f'[project]\nname = "{folder.replace("_", "-")}"\nversion = "1.0.0"\n'
        f'description = "{about}"\nrequires-python = ">=3.10"\ndependencies = {json.dumps(list(depends))}\n'
        f"{entry_points}\n"
        f'[tool.setuptools]\npackages = ["{folder}", "{folder}.guide"]\n\n'
        f'[tool.setuptools.package-data]\n{folder} = ["{DATA}"]\n'
    ).encode()


def check_pyproject(artifact: Artifact, folder: str) -> dict[str, Any]:
    """Read the `pyproject.toml` back.

    Raises:
        MismatchError: it does not name the package.
    """
    found = tomllib.loads(artifact.file("pyproject.toml").decode())
    if found["tool"]["setuptools"]["packages"] != [folder, f"{folder}.guide"]:
        raise MismatchError("errors.export.package.no_name")
    return found


def origin(job: ExportJob, notes: tuple[str, ...]) -> str:
    """Return the origin of a package, as the end of a README."""
    left_out = ["## What it leaves out", "", *(f"- {note}" for note in notes), ""] if notes else []
    return "\n".join([*left_out, "## What it was made from", "", indented_provenance(job), ""])
