r"""EBNF as xgrammar reads it, which vLLM and SGLang hand their grammars to.

The dialect is W3C's with `#` comments and C escapes (`cpp/grammar_parser.cc`);
what is written here is the part of it that GBNF has too, so that it can be read
back without xgrammar. It differs from GBNF in what follows, as tried out with
0.2.8:

- a rule's name begins with no digit, and is not `true`, `false`, or a macro's;
- there is no `.`, and no class that is empty: what matches nothing is left out;
- `[^a]` allows the bytes of surrogates, and `[^\uD800-\uDFFF]` loses tokens of several characters, so no class is
  written as what it leaves out;
- repetitions have no bound;
- left recursion is read, but masks of such a grammar may lack tokens, and a rule that repeats itself to its left
  (`root ::= root{0,2}`) ends the process: it is rewritten, or refused.
"""

from __future__ import annotations

import re
from typing import Final

from engine.compile import CompiledGrammar
from engine.export.checks.texts import check_text
from engine.export.provenance import commented
from engine.export.rules.plain import renamed
from engine.export.target import Artifact, Check, ExportJob, ExportOptions
from engine.export.targets.common.rules import RulesTarget
from engine.export.text.plain_grammar import holds_fewer, left_recursive_rule, plain_grammar
from engine.grammar import Grammar
from engine.grammar.print_gbnf import print_gbnf
from engine.vocabulary import Vocabulary

_RESERVED: Final = frozenset({"true", "false", "TagDispatch", "Token", "ExcludeToken", "TokenTagDispatch", "Regex"})
_NOT_A_NAME: Final = re.compile(r"[^A-Za-z0-9-]+")


class EbnfTarget(RulesTarget):
    """As `Target`."""

    name = "ebnf"
    title = "EBNF for xgrammar"
    about = "Rules in xgrammar's dialect: vLLM takes them as structured_outputs.grammar, SGLang as ebnf."
    suffix = ".ebnf"

    def refusal(self, compiled: CompiledGrammar, vocabulary: Vocabulary | None, options: ExportOptions) -> str:
        """As `Target`."""
        if why_not := super().refusal(compiled, vocabulary, options):
            return why_not
        name = left_recursive_rule(compiled)
        return f"xgrammar gets left recursion wrong, and the rule `{name}` begins with itself" if name else ""

    def make(self, job: ExportJob) -> Artifact:
        """As `Target`."""
        plain = plain_grammar(job)
        text = commented(job, ebnf(plain.grammar), "#", plain.notes, *self.takes(job.compiled))
        return Artifact((("grammar.ebnf", text.encode()),), plain.notes)

    def check(self, artifact: Artifact, job: ExportJob) -> Check:
        """As `Target`."""
        compared = "the grammar and the EBNF, read as the GBNF that it is too,"
        return check_text(job, "gbnf", artifact.content.decode(), compared, fewer=holds_fewer(job))


def ebnf(grammar: Grammar) -> str:
    """A plain grammar in xgrammar's dialect."""
    return print_gbnf(renamed(grammar, _name), negates=False)


def _name(name: str) -> str:
    plain = _NOT_A_NAME.sub("-", name).strip("-") or "rule"
    if plain[0].isdigit():
        return f"rule-{plain}"
    return f"{plain}-rule" if plain in _RESERVED else plain


TARGET = EbnfTarget()
