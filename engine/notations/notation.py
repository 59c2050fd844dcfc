"""The interface of a notation: one object that answers all that the rest of Turnstile asks about it.

Whoever needs to know something about a grammar's notation asks its object, and never compares its name. So another
notation is one package with one object; `tests/extension` adds one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, ClassVar, Final, NamedTuple, Protocol

from engine.notations.editing.completion import Proposals
from engine.notations.editing.edits import Change, toggle_line_comments
from engine.notations.editing.names import Name
from engine.notations.explanation import Description, ExplanationEntry, unfold
from engine.notations.lexing import LineTokens, plain_line
from engine.source import CancelToken, Diagnostic, Limits, SourceText, Span
from engine.source.catalogue import catalogue_text
from engine.source.registry import extension_objects

if TYPE_CHECKING:
    from engine.grammar import Grammar
    from engine.grammar.options import CompileOptions
    from engine.notations.building import Built
    from engine.notations.editing.expressions import ExpressionSyntax
    from engine.notations.railroad import Railroad
    from engine.notations.reference import ReferenceGroup
    from engine.notations.schema_map import SchemaMap


@dataclass(frozen=True, slots=True)
class NotationVariant:
    """A form in which a notation is offered to users, such as a dialect.

    Attributes:
        id: its name in the catalogue (`common.notation`).
        options: the compile options that select it.
        title: its title; that of the catalogue by default.
        tip: a few words of description; those of the catalogue by default.
    """

    id: str
    options: Mapping[str, str] = field(default_factory=dict)
    title: str = ""
    tip: str = ""


class GroupLabel(NamedTuple):
    """A capture group: its name, or its number, and its span with its parentheses."""

    name: str
    span: Span


class FindingsReader(Protocol):
    """Reads the texts of an editor one after another."""

    def findings(self, source: SourceText, limits: Limits) -> tuple[Diagnostic, ...]:
        """Return what `Notation.parse` finds, errors included.

        Args:
            source: the text; the more of it is as in the last one, the faster.
            limits: the limits of length and of rules.

        Raises:
            LimitExceededError: the text is too long.
        """
        ...


class Notation:
    """A notation of grammars.

    Attributes:
        id: its name in documents, on the command line and in `compile_grammar`.
        option_names: the fields of `CompileOptions` that affect its meaning.
        suffixes: the suffixes of its files, each with a dot.
        ends_with_line: whether a line end at the end of a file belongs to the text.
        describes_json: whether its texts are JSON values: white space, escapes and the forms of numbers are then a
            matter of options, and rules may not be able to express it.
        has_named_rules: whether a text consists of named rules.
        is_expression: whether a text is one regular expression.
        wraps_anywhere: whether an editor breaks long lines between any two characters, since there are no words.
    """

    id: ClassVar[str]
    option_names: ClassVar[tuple[str, ...]] = ()
    suffixes: ClassVar[tuple[str, ...]] = ()
    ends_with_line: ClassVar[bool] = True
    describes_json: ClassVar[bool] = False
    has_named_rules: ClassVar[bool] = False
    is_expression: ClassVar[bool] = False
    wraps_anywhere: ClassVar[bool] = False

    @property
    def title(self) -> str:
        """Return its name for people, such as "GBNF"."""
        return catalogue_text(f"common.notation.{self.id}")

    @property
    def placeholder(self) -> str:
        """Return what an empty editor shows: an example."""
        return catalogue_text(f"editor.text.placeholder.{self.id}")

    @property
    def variants(self) -> tuple[NotationVariant, ...]:
        """Return the forms in which it is offered, the default first."""
        return (NotationVariant(self.id),)

    @property
    def expressions(self) -> ExpressionSyntax | None:
        """Return the syntax of its alternatives and items; None if its texts do not consist of them."""
        return None

    def parse(self, text: SourceText, options: CompileOptions) -> tuple[Grammar, tuple[Diagnostic, ...]]:
        """Parse a text to rules; a notation without named rules has one rule.

        Args:
            text: the grammar's text.
            options: the compile options.

        Returns:
            The rules as written, and warnings and hints in source order.

        Raises:
            GrammarError: the text is malformed or not supported.
            LimitExceededError: it exceeds a limit.
        """
        raise NotImplementedError(f"{self.id} has no rules: {text!r}, {options}")

    def parse_with_groups(
        self, text: SourceText, options: CompileOptions
    ) -> tuple[Grammar, Mapping[int, Sequence[GroupLabel]]]:
        """Parse a text to rules, and return what `parse` does not keep: the capture groups that enclose a node.

        Args:
            text: the grammar's text, which compiles.
            options: the compile options.

        Returns:
            The rules as written, and by the identity of a node the groups around it alone, the innermost first.
        """
        return self.parse(text, options)[0], {}

    def build(self, text: SourceText, options: CompileOptions, cancel: CancelToken) -> Built:
        """Parse a text and build its automaton.

        Args:
            text: the grammar's text.
            options: the compile options; those not in `option_names` are ignored, limits apart.
            cancel: checked regularly; receives the progress.

        Raises:
            GrammarError: the text is malformed or not supported.
            LimitExceededError: it exceeds a limit.
            CancelledError: `cancel` was used.
        """
        from engine.notations.building import build_rules  # start-up time: an editor builds no automaton

        return build_rules(partial(self.parse, text, options), options.limits, cancel)

    def findings_reader(self) -> FindingsReader | None:
        """Return a reader that finds what `parse` finds sooner than a compile; None if there is none."""
        return None

    def looks_like(self, text: str) -> bool:
        """Return whether a text of unknown notation is very likely in this one.

        Args:
            text: the beginning of a complete grammar, which may have errors.
        """
        del text
        return False

    def lex_line(self, line: str, state: int) -> LineTokens:
        """Return the tokens of a line of a text, valid or not; see `engine.notations.lexing`.

        Args:
            line: the line, without its end.
            state: the state that the line before it ended in; 0 for the first line.
        """
        return plain_line(line, state)

    def resume_at(self, line: str, offset: int) -> int | None:
        """Return where to lex a part of a very long line from, at or before an offset; None if only from its beginning.

        Args:
            line: the line, which begins in state 0.
            offset: where the part begins.
        """
        del line, offset
        return None

    def reference(self, text: str, options: CompileOptions) -> tuple[ReferenceGroup, ...]:
        """Return the quick reference: the constructs of the notation, each with an example; empty if it has none.

        Args:
            text: the grammar, valid or not, which may name a version of the notation.
            options: the compile options, which may select a dialect.
        """
        del text, options
        return ()

    def explain(self, text: SourceText, options: CompileOptions) -> Description:
        """Explain each part of a text.

        Args:
            text: the grammar's text.
            options: the compile options, which affect the meaning of a text.

        Raises:
            GrammarError: the text does not parse.
            LimitExceededError: it is too long.
        """
        return unfold(self.explanation_entries(text, options))

    def explanation_entries(self, text: SourceText, options: CompileOptions) -> Iterable[ExplanationEntry]:
        """Return the top-level entries of `explain`; by default the rules, as `parse` returns them."""
        from engine.notations.node_explanation import explain_rules  # start-up time: an editor explains nothing

        return explain_rules(text.text, self.parse(text, options)[0])

    def schema_map(self, text: str, options: CompileOptions) -> SchemaMap | None:
        """Return the map of a schema's subschemas; None in other notations, and for a text that cannot be read.

        Args:
            text: the text, which need not compile.
            options: the compile options, which may select a draft.
        """
        del text, options
        return None

    def railroad(self, text: SourceText, options: CompileOptions) -> Railroad:
        """Return the railroad diagrams of a text; by default those of the rules, as `parse` returns them.

        Args:
            text: the grammar's text.
            options: the compile options, which affect the meaning of a text.

        Raises:
            GrammarError: the text does not parse.
            LimitExceededError: it is too long.
        """
        from engine.notations.railroad import rule_tracks  # start-up time: an editor draws nothing

        return rule_tracks(text.text, self.parse(text, options)[0])

    # --- editing: every method accepts any text, valid or not --------------------------------------------------------

    def rule_starts(self, text: str) -> Iterable[tuple[str, int]]:
        """Return the names and offsets of the rules of a text, in order; faster than `names`, for use at each edit."""
        del text
        return ()

    def names(self, text: str) -> tuple[Name, ...]:
        """Return the names that a text defines and uses, in order of first occurrence."""
        del text
        return ()

    def rename(self, text: str, name: Name, new: str) -> Change:
        """Rename all occurrences of a name.

        A defined name may be renamed to one that is used but not defined, and so defines it. Likewise an undefined name
        may be renamed to a defined one. Two definitions never get the same name.

        Args:
            text: the text.
            name: the name to rename.
            new: the new name.
        """
        if name.fixed:
            return Change(refusal=name.fixed)
        if new == name.text:
            return Change()
        change = self._rename(text, name, new)
        others = (other for other in self.names(text) if other.text == new and other.kind == name.kind)
        if change.edits and name.definitions and any(not other.definitions for other in others):
            return replace(change, note=f"`{new}` is used but not defined: this defines it")
        return change

    def _rename(self, text: str, name: Name, new: str) -> Change:
        """Return the edits of `rename`; called if `names` returned the name and it is not fixed."""
        raise NotImplementedError(f"{self.id} has names, but does not rename {name.text!r} to {new!r} in {text!r}")

    def propose(self, text: str, offset: int) -> Proposals:
        """Return the completion proposals at an offset.

        Args:
            text: the text.
            offset: the cursor position, in code points.
        """
        del text
        return Proposals(Span(offset, offset))

    def toggle_comment(self, text: str, selected: Span) -> Change:
        """Comment the lines of a selection, or uncomment them if all are comments.

        Args:
            text: the text.
            selected: the selection, in code points.

        Returns:
            The edits; none, with a reason, if the notation has no comments.
        """
        return toggle_line_comments(text, selected)

    def format(self, text: str, options: CompileOptions) -> Change:
        """Format a text; only white space and line ends change.

        Args:
            text: the text.
            options: the options that it is compiled with.

        Returns:
            One edit, from the first to the last change; none, with a reason, if the text is invalid, has no white space
            that may change, or is formatted already.
        """
        del text, options
        return Change(refusal=catalogue_text("notations.format.none", notation=self.title))


class NotationRegistry(Mapping[str, Notation]):
    """The notations by id, in the order in which they are offered.

    Those of other distributions are the modules of the package `turnstile_extensions.notations`, each with its
    `NOTATION`, and follow in alphabetical order; see `engine.source.registry`.

    Args:
        notations: those of this distribution.
    """

    def __init__(self, *notations: Notation) -> None:
        self._own = {notation.id: notation for notation in notations}
        self._loaded: dict[str, Notation] | None = None

    @property
    def _notations(self) -> dict[str, Notation]:
        if self._loaded is None:
            found = {one.id: one for one in extension_objects("notations", "NOTATION")}
            self._loaded = self._own | found | self._own  # an extension hides none of them
        return self._loaded

    def find_again(self) -> None:
        """Look for extensions again: the import path was changed."""
        self._loaded = None

    def __getitem__(self, notation_id: str) -> Notation:
        return self._own.get(notation_id) or self._notations[notation_id]

    def __iter__(self) -> Iterator[str]:
        return iter(self._notations)

    def __len__(self) -> int:
        return len(self._notations)

    def likely(self, text: str) -> Notation | None:
        """Return the notation that a text is very likely in; None if in doubt.

        The last notation is asked first: a JSON text could also be read as a regular expression.

        Args:
            text: a complete grammar, which may have errors.
        """
        beginning = text[:_LENGTH]
        return next((found for found in reversed(self._notations.values()) if found.looks_like(beginning)), None)

    def of_file(self, suffix: str) -> Notation | None:
        """Return the notation of files with a suffix, such as `.gbnf`, in lower case; None for an unknown one."""
        return next((found for found in self.values() if suffix in found.suffixes), None)


_LENGTH: Final = 20_000  # code points; a grammar can be recognised long before
