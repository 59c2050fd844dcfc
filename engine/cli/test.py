"""`turnstile test`: the test strings of documents, and cases in TOML, with coverage, for people and for CI."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from xml.etree import ElementTree as ET

from engine.cli.annotations import Annotation, github_commands
from engine.cli.inputs import load_source, read_file
from engine.cli.output import MisuseError, ProgressLine, print_json
from engine.diagnosis.test_strings.case_files import CaseFileError, GrammarCase, read_cases
from engine.diagnosis.test_strings.case_runner import CaseReport, CheckKind, CheckResult, run_case
from engine.diagnosis.test_strings.values import Coverage
from engine.source import CancelToken
from engine.source.catalogue import catalogue_text
from engine.vocabulary import Vocabulary

_MOST_UNUSED: Final = 5


@dataclass(frozen=True, slots=True)
class _FileReport:
    """A file with the reports of its cases."""

    name: str
    reports: tuple[CaseReport, ...]


def add_options(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
    parser.add_argument("files", metavar="FILE", nargs="+")
    parser.add_argument("--junit", metavar="FILE")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--format", choices=["text", "github"], default="text")
    form.add_argument("--json", action="store_true")


def run(arguments: argparse.Namespace) -> int:
    """Run all cases; return 1 if a check does not hold."""
    listed = [(name, _read(name)) for name in arguments.files]
    with ProgressLine() as cancel:
        files = [
            _FileReport(name, tuple(run_case(case, _loader(name, cancel), cancel) for case in cases))
            for name, cases in listed
        ]
    if arguments.junit:
        _write_junit(arguments.junit, files)
    if arguments.json:
        print_json(_as_data(files))
    elif arguments.format == "github":
        print("\n".join([*github_commands(_annotations(files)), _summary(files)]))
    else:
        print("\n".join([*_lines(files), _summary(files)]))
    return 0 if all(result.holds for result in _results(files)) else 1


def _read(name: str) -> tuple[GrammarCase, ...]:
    try:
        return read_cases(Path(name), read_file(name))
    except CaseFileError as error:
        raise MisuseError.of(error) from error


def _loader(file: str, cancel: CancelToken) -> Callable[[str], Vocabulary]:
    """Return a function that loads a tokenizer by a path relative to a file or to the working directory, or a model."""

    def load(name: str) -> Vocabulary:
        for path in (Path(file).parent / name, Path(name)):
            if path.exists():
                return Vocabulary.from_tokenizer(path)
        return load_source(name, cancel).vocabulary

    return load


def _results(files: Sequence[_FileReport]) -> list[CheckResult]:
    return [result for file in files for report in file.reports for result in report.results]


def _title(result: CheckResult) -> str:
    """Return the check as the file has it: its key and its texts."""
    texts = [repr(result.text)] * (result.kind is not CheckKind.COMPILES) + [repr(result.expected)] * bool(
        result.expected
    )
    return " ".join((result.kind, *texts))


def _lines(files: Sequence[_FileReport]) -> list[str]:
    lines = []
    for file in files:
        for report in file.reports:
            failed = [result for result in report.results if not result.holds]
            lines.append(
                catalogue_text(
                    "cli.test.case",
                    file=file.name,
                    line=report.case.line,
                    name=report.case.name,
                    holding=len(report.results) - len(failed),
                    count=len(report.results),
                    coverage=_coverage_text(report.covered),
                )
            )
            lines += [f"  {_title(result)}: {result.failure}" for result in failed]
            unused = [rule.name for rule in report.covered.rules if not rule.covered and rule.name]
            if unused:
                names = ", ".join(unused[:_MOST_UNUSED]) + (", …" if len(unused) > _MOST_UNUSED else "")
                lines.append(f"  {catalogue_text('cli.test.coverage.unused', names=names)}")
    return lines


def _coverage_text(covered: Coverage) -> str:
    if covered.reason:
        return catalogue_text("cli.test.coverage.none", reason=covered.reason)
    return catalogue_text("cli.test.coverage.edges", covered=covered.covered_edges, total=covered.total_edges)


def _annotations(files: Sequence[_FileReport]) -> list[Annotation]:
    """Return the failures, each at the line of its case."""
    return [
        Annotation(
            report.case.name, "error", f"{_title(result)}: {result.failure}", file.name, max(1, report.case.line)
        )
        for file in files
        for report in file.reports
        for result in report.results
        if not result.holds
    ]


def _summary(files: Sequence[_FileReport]) -> str:
    results = _results(files)
    failed = sum(not result.holds for result in results)
    return catalogue_text("cli.test.summary_line", count=len(results), failed=failed)


def _as_data(files: Sequence[_FileReport]) -> dict[str, object]:
    results = _results(files)
    return {
        "holds": all(result.holds for result in results),
        "checks": len(results),
        "failed": sum(not result.holds for result in results),
        "cases": [
            {
                "file": file.name,
                "line": report.case.line,
                "name": report.case.name,
                "checks": [
                    {"kind": result.kind, "text": result.text, "expected": result.expected, "failure": result.failure}
                    for result in report.results
                ],
                "coverage": {
                    "rules": len(report.covered.rules),
                    "covered_rules": report.covered.covered_rules,
                    "edges": report.covered.total_edges,
                    "covered_edges": report.covered.covered_edges,
                    "unused_rules": [rule.name for rule in report.covered.rules if not rule.covered],
                    "reason": report.covered.reason,
                },
            }
            for file in files
            for report in file.reports
        ],
    }


def _write_junit(name: str, files: Sequence[_FileReport]) -> None:
    """Write the results in the form that CI servers read: a suite for each case, a test case for each check."""
    results = _results(files)
    root = ET.Element("testsuites", tests=str(len(results)), failures=str(sum(not result.holds for result in results)))
    for file in files:
        for report in file.reports:
            failures = sum(not result.holds for result in report.results)
            suite = ET.SubElement(
                root,
                "testsuite",
                name=_printable(f"{file.name}: {report.case.name}"),
                tests=str(len(report.results)),
                failures=str(failures),
            )
            for result in report.results:
                case = ET.SubElement(
                    suite,
                    "testcase",
                    classname=_printable(report.case.name),
                    name=_printable(_title(result)),
                    file=file.name,
                    line=str(report.case.line),
                )
                if not result.holds:
                    ET.SubElement(case, "failure", message=_printable(result.failure))
    tree = ET.ElementTree(root)
    ET.indent(tree)
    try:
        tree.write(name, "utf-8", xml_declaration=True)
    except OSError as error:
        reason = error.strerror or error
        raise MisuseError("cli.file.unwritable", name=name, reason=reason) from error


def _printable(text: str) -> str:
    """Return a text without the characters that XML 1.0 does not allow."""
    return "".join(each if each >= " " or each in "\t\n\r" else "\ufffd" for each in text if each not in "\ufffe\uffff")
