"""JSON Schema: from text to a formula over JSON values, and to its automaton."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from engine.notations.editing.edits import Change
from engine.notations.editing.names import Name
from engine.notations.notation import Notation

if TYPE_CHECKING:
    from collections.abc import Iterable

    from engine.grammar.options import CompileOptions
    from engine.notations.building import Built
    from engine.notations.editing.completion import Proposals
    from engine.notations.explanation import ExplanationEntry
    from engine.notations.lexing import LineTokens
    from engine.notations.railroad import Railroad
    from engine.notations.reference import ReferenceGroup
    from engine.notations.schema_map import SchemaMap
    from engine.source import CancelToken, SourceText, Span

__all__ = ["JsonSchema"]

_OBJECT: Final = re.compile(r'\s*\{\s*"(?:[^"\\\n]|\\.)*"\s*:')


class JsonSchema(Notation):
    """JSON Schema, drafts 4 to 2020-12."""

    id = "json_schema"
    option_names = ("whitespace", "escapes", "property_order", "additional", "unenforced", "draft")
    suffixes = (".json",)
    describes_json = True

    def build(self, text: SourceText, options: CompileOptions, cancel: CancelToken) -> Built:
        """Parse a schema and build its automaton; see `Notation`."""
        from engine.notations.json_schema.building import build

        return build(text, options, cancel)

    def explanation_entries(self, text: SourceText, options: CompileOptions) -> Iterable[ExplanationEntry]:
        """Explain a schema and each of its keywords; see `Notation`."""
        from engine.notations.json_schema.explanation import schema_entries

        return schema_entries(text, options)

    def schema_map(self, text: str, options: CompileOptions) -> SchemaMap | None:
        """Return the map of a schema; see `Notation`."""
        from engine.notations.json_schema.mapping import schema_map

        return schema_map(text, options.draft)

    def looks_like(self, text: str) -> bool:
        """Return whether a text is a JSON object."""
        return _OBJECT.match(text) is not None

    def railroad(self, text: SourceText, options: CompileOptions) -> Railroad:
        """Return the railroad diagrams of the schemas of a text; see `Notation`."""
        from engine.notations.json_schema.railroad import schema_railroad

        return schema_railroad(text, options)

    def reference(self, text: str, options: CompileOptions) -> tuple[ReferenceGroup, ...]:
        """Return the keywords, types and formats of the schema's draft; see `Notation`."""
        from engine.notations.json_schema.dialects import SchemaDraft, draft_named_in
        from engine.notations.json_schema.reference import schema_reference

        return schema_reference(draft_named_in(text, SchemaDraft(options.draft)))

    def names(self, text: str) -> tuple[Name, ...]:
        """Return the definitions and anchors of a text; see `Notation`."""
        from engine.notations.json_schema.names import schema_names

        return schema_names(text)

    def _rename(self, text: str, name: Name, new: str) -> Change:
        from engine.notations.json_schema.names import rename_schema

        return rename_schema(text, name, new)

    def lex_line(self, line: str, state: int) -> LineTokens:
        """Return the tokens of a line; see `Notation`."""
        from engine.notations.json_schema.lexer import lex_line

        return lex_line(line, state)

    def resume_at(self, line: str, offset: int) -> int:
        """Return the beginning of the string around an offset, or the offset; see `Notation`."""
        from engine.notations.json_schema.lexer import start_of_string

        return start_of_string(line, offset)

    def propose(self, text: str, offset: int) -> Proposals:
        """Return the proposals at an offset; see `Notation`."""
        from engine.notations.json_schema.completion import propose

        return propose(text, offset)

    def toggle_comment(self, text: str, selected: Span) -> Change:
        """Say that JSON has no comments; see `Notation`."""
        del text, selected
        return Change(refusal="JSON has no comments; a schema may say something in `$comment`")

    def format(self, text: str, options: CompileOptions) -> Change:
        """Format a JSON text; see `Notation`."""
        from engine.notations.json_schema.formatting import format_text

        return format_text(text, options)
