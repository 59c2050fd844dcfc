"""Lark for llguidance: guidance itself, vLLM and SGLang with that backend, and OpenAI's custom tools."""

from __future__ import annotations

from engine.export.checks import check_text
from engine.export.provenance import commented
from engine.export.target import Artifact, Check, ExportJob, MismatchError
from engine.export.target_bases import RulesTarget
from engine.export.text.plain_grammar import has_fewer_texts, plain_grammar
from engine.export.text.print_lark import NoLarkError, print_lark, read_lark
from engine.grammar.print_gbnf import print_gbnf
from engine.source import GrammarError
from engine.source.catalogue import catalogue_text

_OPTIONS = "%llguidance {}"


class LarkTarget(RulesTarget):
    """The Lark target; see `Target`."""

    name = "lark"
    suffix = ".lark"

    def make(self, job: ExportJob) -> Artifact:
        """Make the artifact; see `Target`."""
        plain = plain_grammar(job)
        text = commented(job, print_lark(plain.grammar), "//", plain.notes, *self.supported_options(job.compiled))
        return Artifact((("grammar.lark", f"{_OPTIONS}\n{text}".encode()),), plain.notes)

    def check(self, artifact: Artifact, job: ExportJob) -> Check:
        """Check the artifact; see `Target`."""
        try:
            rules = print_gbnf(read_lark(artifact.content.decode()))
        except (NoLarkError, GrammarError) as error:
            raise MismatchError("errors.export.checks.unreadable", reason=str(error)) from error
        compared = catalogue_text("export.compared.fragment.lark")
        return check_text(job, "gbnf", rules, compared, fewer=has_fewer_texts(job))


TARGET = LarkTarget()
