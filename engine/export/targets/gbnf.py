"""GBNF for llama.cpp.

A schema or a regex becomes rules; GBNF itself is rewritten, since llama.cpp refuses some of what Turnstile accepts:
names with an underscore, repetitions that it would expand to 2,000 symbols, and unbounded repetition of an operand with
an empty alternative. Names, literals and classes are in the subset that xgrammar and llguidance read as well
(`engine.grammar.print_gbnf`). It refuses left recursion too: this is rewritten if the author would recognise the
result, or if recursion is not needed at all, and otherwise refused here with the rule's name. Parts that match nothing
are left out, since llama.cpp would allow what leads into them.

The output was compared with llama.cpp itself (`python -m tests.llama_cpp`). One difference remains that no grammar can
fix: after a token that ends inside a character it allows an end where the rules allow one at that position.
"""

from __future__ import annotations

from engine.export.checks import check_text, scope_of
from engine.export.provenance import commented
from engine.export.rules.cleanup import has_dead_parts, without_dead_parts
from engine.export.rules.llama_limits import within_llama_limits
from engine.export.target import (
    Artifact,
    Check,
    ExportJob,
    MismatchError,
    NotExportableError,
)
from engine.export.target_bases import RulesTarget
from engine.export.text.plain_grammar import (
    converted,
    gbnf_grammar,
    has_fewer_texts,
    left_recursive_rule,
    nothing_to_write,
    schema_refusal,
)
from engine.grammar import Grammar
from engine.grammar.print_gbnf import NoGbnfError, print_gbnf
from engine.notations import NOTATIONS
from engine.source.catalogue import catalogue_text


class GbnfTarget(RulesTarget):
    """The GBNF target; see `Target`."""

    name = "gbnf"
    suffix = ".gbnf"

    def refusal(self, job: ExportJob) -> str:
        """Return why a grammar does not fit; see `Target`."""
        if job.compiled.is_empty:
            return nothing_to_write()
        if name := left_recursive_rule(job.compiled):
            return catalogue_text("export.refusal.fragment.gbnf_left_recursion", rule=name)
        return schema_refusal(job.compiled, job.options)

    def make(self, job: ExportJob) -> Artifact:
        """Make the artifact; see `Target`."""
        compiled = job.compiled
        if compiled.has_named_rules:
            plain = gbnf_grammar(job)
            # llama.cpp would allow what leads into a part that cannot be completed, and reach a dead end.
            live = without_dead_parts(plain.grammar) if has_dead_parts(plain.grammar) else plain.grammar
            grammar, notes = within_llama_limits(live), plain.notes
        else:
            conversion = converted(compiled, job.options.spelling, job.cancel)
            grammar, notes = conversion.grammar, conversion.notes
        text = commented(job, _printed(grammar), "#", notes, *self.supported_options(compiled))
        return Artifact((("grammar.gbnf", text.encode()),), notes)

    def check(self, artifact: Artifact, job: ExportJob) -> Check:
        """Check the artifact; see `Target`."""
        text = artifact.content.decode()
        if any("_" in name for name, _offset in NOTATIONS["gbnf"].rule_starts(text)):
            raise MismatchError("errors.export.gbnf.underscore")
        compared = catalogue_text("export.compared.fragment.gbnf")
        return check_text(job, "gbnf", text, compared, fewer=has_fewer_texts(job), scope=scope_of(job.compiled))


def _printed(grammar: Grammar) -> str:
    try:
        return print_gbnf(grammar)
    except NoGbnfError as error:
        raise NotExportableError.of(error) from error


TARGET = GbnfTarget()
