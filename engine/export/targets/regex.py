"""One regular expression for a full match, in the syntax that common engines share.

The file contains only the expression. A line end would be part of it for a program that uses the file unchanged, and no
comment syntax is understood by all of Python, ECMAScript, Rust and RE2.
"""

from __future__ import annotations

from engine.compile import CompiledGrammar
from engine.export.checks import check_text
from engine.export.target import Artifact, Check, ExportJob, OptionName
from engine.export.target_bases import RulesTarget
from engine.export.text.conversion import already_regex, is_plain_expression, to_regex
from engine.export.text.plain_grammar import has_fewer_texts, refusal_without_stack
from engine.source.catalogue import catalogue_text


class RegexTarget(RulesTarget):
    """The regex target; see `Target`."""

    name = "regex"
    suffix = ".regex"

    def supported_options(self, compiled: CompiledGrammar) -> frozenset[OptionName]:
        """Return the supported options; see `Target`."""
        return super().supported_options(compiled) | (frozenset() if compiled.is_regular else {"depth"})

    def refusal(self, job: ExportJob) -> str:
        """Return why a grammar does not fit; see `Target`."""
        if is_plain_expression(job.compiled):
            return already_regex()
        return refusal_without_stack(job.compiled, job.options)

    def make(self, job: ExportJob) -> Artifact:
        """Make the artifact; see `Target`."""
        conversion = to_regex(
            job.compiled,
            job.options.spelling,
            depth=job.options.depth,
            dialect=job.compiled.options.dialect,
            cancel=job.cancel,
        )
        return Artifact((("grammar.regex", conversion.text.encode()),), conversion.notes)

    def check(self, artifact: Artifact, job: ExportJob) -> Check:
        """Check the artifact; see `Target`."""
        text = artifact.content.decode()
        fewer = has_fewer_texts(job) or job.options.depth is not None
        compared, dialect = catalogue_text("export.compared.fragment.regex"), job.compiled.options.dialect
        return check_text(job, "regex", text, compared, fewer=fewer, dialect=dialect)


TARGET = RegexTarget()
