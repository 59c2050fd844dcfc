r"""EBNF for xgrammar, to which vLLM and SGLang pass their grammars.

The text is in the subset that xgrammar, llguidance's GBNF reader and llama.cpp share
(`engine.grammar.print_gbnf`), since vLLM hands the same field to either of the first two. Further restrictions,
measured with xgrammar 0.2.8 and llguidance 1.9.1:

- xgrammar has no empty class, so parts that match nothing are left out.
- `[^a]` allows the bytes of surrogates in xgrammar, and `[^\uD800-\uDFFF]` loses tokens of several characters, so no
  class is negated.
- xgrammar reads left recursion, but masks of such a grammar may lack tokens, and a rule that repeats itself to its
  left (`root ::= root{0,2}`) ends the process: it is rewritten, or refused.
- llguidance makes a token of each rule that leads to no recursion, and its lexer takes the longest match and never
  goes back: `word ::= [a-z]+` followed by `"x"` has no text there. A grammar without recursion becomes one rule below
  `root`, which llguidance reads as one token, and so exactly. One with recursion may have fewer texts there, never
  others: the Lark export is exact.
"""

from __future__ import annotations

from typing import Final

from engine.export.checks import check_text
from engine.export.provenance import commented
from engine.export.rules.flatten import is_recursive
from engine.export.target import Artifact, Check, ExportJob
from engine.export.target_bases import RulesTarget
from engine.export.text.plain_grammar import has_fewer_texts, left_recursive_rule, plain_grammar
from engine.grammar import Grammar, Rule, RuleReference
from engine.grammar.print_gbnf import print_gbnf
from engine.source.catalogue import catalogue_text

_WHOLE: Final = "text"


class EbnfTarget(RulesTarget):
    """The EBNF target; see `Target`."""

    name = "ebnf"
    suffix = ".ebnf"

    def refusal(self, job: ExportJob) -> str:
        """Return why a grammar does not fit; see `Target`."""
        if why_not := super().refusal(job):
            return why_not
        name = left_recursive_rule(job.compiled)
        return catalogue_text("export.refusal.fragment.ebnf_left_recursion", rule=name) if name else ""

    def make(self, job: ExportJob) -> Artifact:
        """Make the artifact; see `Target`."""
        plain = plain_grammar(job)
        text = commented(job, ebnf(plain.grammar), "#", plain.notes, *self.supported_options(job.compiled))
        return Artifact((("grammar.ebnf", text.encode()),), plain.notes)

    def check(self, artifact: Artifact, job: ExportJob) -> Check:
        """Check the artifact; see `Target`."""
        compared = catalogue_text("export.compared.fragment.ebnf")
        return check_text(job, "gbnf", artifact.content.decode(), compared, fewer=has_fewer_texts(job))


def ebnf(grammar: Grammar) -> str:
    """Print a plain grammar in the dialect that xgrammar and llguidance share."""
    return print_gbnf(grammar if is_recursive(grammar) else _below_root(grammar), negates=False)


def _below_root(grammar: Grammar) -> Grammar:
    """Move the grammar into one rule below the start rule, unless it is one already."""
    start = next(rule for rule in grammar.rules if rule.name == grammar.start)
    if isinstance(start.node, RuleReference):
        return grammar
    names = {rule.name for rule in grammar.rules}
    name, number = _WHOLE, 1
    while name in names:
        number += 1
        name = f"{_WHOLE}-{number}"
    others = tuple(rule for rule in grammar.rules if rule is not start)
    root = Rule(start.name, RuleReference(name), start.span)
    return Grammar((root, Rule(name, start.node, start.span), *others), start.name)


TARGET = EbnfTarget()
