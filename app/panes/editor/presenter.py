"""Binds the grammar editor and its pages to the session, and handles their commands and the editor's menu."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec
from PySide6.QtWidgets import QAbstractItemView, QApplication, QMenu

from app.catalogue import ui_text
from app.commands import command
from app.document import GrammarPart
from app.models.heat import HeatRow, heat_rows, measures_lost
from app.pane_spec import Area, PaneContext, PanePresenter, PaneSpec
from app.panes.editor.code_edit import HeldText
from app.panes.editor.generated import GeneratedPage
from app.panes.editor.pane import EditorPane
from app.widgets.lazy import Lazy
from app.workers.requests.judge import GenerateAnswer
from engine.grammar.options import CompileOptions
from engine.notations import NOTATIONS
from engine.source import Diagnostic, Span

if TYPE_CHECKING:
    from app.panes.editor.explanation import ExplanationPage
    from app.panes.editor.reference import ReferencePage


_HELD = "editor"


class EditorPresenter(PanePresenter):
    """Shows the grammar of the document with its diagnostics, and stores what the user writes.

    Attributes:
        generated: the page with the grammar as GBNF.
    """

    def __init__(self, context: PaneContext) -> None:
        super().__init__(context)
        self.view: EditorPane = EditorPane()
        self.generated: Lazy[GeneratedPage] = Lazy(self._make_generated)
        self.view.pages.add_page(self.generated, ui_text("presenters.as_gbnf"))
        self._connect_session()
        self._connect_view()
        for owner in (self, self.view, self.view.find_replace, self.view.symbols):
            context.commands.add(owner)
        menu = QMenu(context.window)
        menu.setToolTipsVisible(True)
        context.commands.fill(menu, lambda one: one.context == "editor", has_submenus=True)
        self.view.set_menu(menu)

    def _connect_session(self) -> None:
        session, view = self.session, self.view
        document, compiling, links = session.document, session.compiling, session.links
        document.changed.connect(self._on_changed)
        document.leaving.connect(self._hold_text)
        document.replaced.connect(self._show_document)
        document.breakpoints_changed.connect(self._mark_breakpoints)
        compiling.diagnosed.connect(self._show_diagnostics)
        session.coverage.changed.connect(self._show_heat)
        session.live_states.settled.connect(lambda _states, spans: view.show_live(spans))
        links.span_chosen.connect(self._go_to)
        links.span_pointed.connect(view.show_span)
        links.problem_chosen.connect(view.point_to)
        links.fix_wanted.connect(view.quick_fixes.open_for)
        links.edits_wanted.connect(view.edit.apply)
        links.spans_hovered.connect(view.show_hover)
        links.cursor_offset = lambda: view.cursor_offset

    def _go_to(self, span: Span) -> None:
        """Show a span, also where another pane hides the editor."""
        self.context.reveal(self.view)
        self.view.go_to(span)

    def _show_heat(self) -> None:
        """Mark rules and keywords while the heat map is shown; those of schemas have no rules in their text."""
        coverage = self.session.coverage
        revision, found = coverage.shown
        rows: tuple[HeatRow, ...] = ()
        if found is not None and coverage.is_watched_by("automaton") and revision == self.session.document.revision:
            has_rules = NOTATIONS[self._grammar.notation].has_named_rules
            rows = tuple(
                row
                for row in heat_rows(found, coverage.source, coverage.measure)
                if row.span.start < row.span.end and (has_rules or not row.rule)
            )
        self.view.edit.show_heat(rows, is_lost=measures_lost(coverage.source, coverage.measure))

    def _connect_view(self) -> None:
        session, view = self.session, self.view
        view.text_edited.connect(session.document.set_text)
        view.switched.connect(self._switch)
        view.line_hint.accepted.connect(self._format)
        view.edit.replaced.connect(session.links.grammar_replaced)
        view.edit.cursorPositionChanged.connect(lambda: session.links.cursor_moved.emit(view.cursor_offset))
        view.offset_hovered.connect(session.links.offset_hovered)
        view.breakpoint_wanted.connect(session.debugging.toggle_at)
        view.explanation.when_built(self._connect_explanation)
        view.reference.when_built(self._connect_reference)

    def save(self) -> dict[str, bytes]:
        """Return the open page."""
        return self.view.pages.save()

    def restore(self, saved: Mapping[str, bytes]) -> None:
        """Open the saved page."""
        self.view.pages.restore(saved)

    # --- the text ----------------------------------------------------------------------------------------------------

    @property
    def _grammar(self) -> GrammarPart:
        return self.session.document.content.grammar

    def _hold_text(self) -> None:
        """Keep the text with its undo history and its cursor for when the document is shown again."""
        held = self.view.edit.hold()
        if held is not None:
            self.session.document.kept[_HELD] = held

    def _show_document(self) -> None:
        grammar, held = self._grammar, self.session.document.kept.pop(_HELD, None)
        if isinstance(held, HeldText):
            self.view.set_notation(grammar.notation)
            self.view.edit.resume(held)
        else:
            self.view.set_text(grammar.text, msgspec.structs.replace(grammar, text=""), grammar.notation)
        self._mark_breakpoints()

    def _on_changed(self) -> None:
        """Update the marks, and hide the page of GBNF for grammars that are GBNF already."""
        self.view.pages.set_page_visible(self.generated, not NOTATIONS[self._grammar.notation].has_named_rules)
        self._mark_breakpoints()

    def _switch(self, text: str, reading: GrammarPart) -> None:
        """Change the notation or the options of the text; another notation makes it another grammar."""
        if reading.notation != self._grammar.notation:
            self.session.links.grammar_replaced.emit()
        self.session.document.set_grammar(msgspec.structs.replace(reading, text=text))

    def _mark_breakpoints(self) -> None:
        """Mark the lines that have a breakpoint."""
        debugging = self.session.debugging
        offsets = ((debugging.offset_of(one), one.enabled) for one in debugging.breakpoints)
        self.view.show_breakpoints((offset, is_on) for offset, is_on in offsets if offset >= 0)

    def _show_diagnostics(self, diagnostics: Sequence[Diagnostic]) -> None:
        self.view.show_diagnostics(tuple(diagnostics))
        if self.session.shows_other_notation(diagnostics):
            reason = self.session.compiling.stale_reason
            if (page := self.view.explanation.built) is not None:
                page.clear()
                page.set_stale(reason)
            if (generated := self.generated.built) is not None:
                generated.forget()
                generated.set_stale(reason)

    # --- pages -------------------------------------------------------------------------------------------------------

    def _connect_explanation(self, page: ExplanationPage) -> None:
        compiling = self.session.compiling
        compiling.described.connect(page.show_description)
        compiling.stale_changed.connect(lambda _stale, reason: page.set_stale(reason))
        self.session.document.replaced.connect(page.clear)
        page.set_stale(compiling.stale_reason)
        self.view.pages.shown.connect(lambda shown: compiling.describe(is_wanted=shown is page))

    def _connect_reference(self, page: ReferencePage) -> None:
        def show() -> None:
            grammar = self._grammar
            options = CompileOptions(dialect=grammar.dialect)
            page.show_groups(NOTATIONS[grammar.notation].reference(grammar.text, options))

        self.session.document.changed.connect(show)
        show()

    def _make_generated(self) -> GeneratedPage:
        session, view = self.session, self.view
        compiling, page = session.compiling, GeneratedPage(view.text)
        page.set_notation(self._grammar.notation)
        page.set_stale(compiling.stale_reason)
        page.wanted.connect(session.converting.watch)
        page.spans_hovered.connect(view.show_hover)
        page.span_chosen.connect(view.edit.bring_into_view)
        page.span_entered.connect(view.go_to)
        view.pages.shown.connect(lambda shown: page.set_watched(shown is page))
        view.edit.cursorPositionChanged.connect(lambda: page.show_source_offset(view.cursor_offset))
        session.converting.generated.connect(self._show_generated)
        session.document.replaced.connect(page.forget)
        session.document.changed.connect(lambda: page.set_notation(self._grammar.notation))
        compiling.stale_changed.connect(lambda _stale, reason: page.set_stale(reason))
        return page

    def _show_generated(self, answer: GenerateAnswer) -> None:
        drawn, page = self.session.compiling.last_good, self.generated.get()
        if drawn is not None and drawn.request.revision == answer.revision:
            page.show_answer(answer, drawn.request.text)
            page.show_source_offset(self.view.cursor_offset)

    @command("view.explanation", "Ctrl+Shift+E", place=(2, 1), icon="ph.chat-text", context="editor")
    def _toggle_explanation(self) -> None:
        self.context.reveal(self.view)
        self.view.toggle_explanation()

    @command("view.reference", "Ctrl+Shift+K", place=(2, 2), icon="ph.book-open", context="editor")
    def _toggle_reference(self) -> None:
        self.context.reveal(self.view)
        self.view.toggle_reference()

    @command("view.gbnf", "Ctrl+Shift+G", place=(2, 3), context="editor")
    def toggle_generated(self) -> None:
        """Show the grammar as GBNF, or hide it."""
        self.context.reveal(self.view)
        if NOTATIONS[self._grammar.notation].has_named_rules:
            self.view.edit.show_tip(ui_text("presenters.is_gbnf"))
            return
        self.view.pages.toggle(self.generated)
        if self.view.pages.current is not None:
            self.generated.get().text.setFocus()
        else:
            self.view.setFocus()

    # --- commands of the text ----------------------------------------------------------------------------------------

    def break_at_cursor(self) -> None:
        """Toggle a breakpoint on the element at the cursor."""
        self.session.debugging.toggle_at(self.view.cursor_offset)

    @command("edit.format", "Shift+Alt+F", place=(5, 2), icon="ph.text-align-left", context="editor")
    def _format(self) -> None:
        self.session.compiling.format_text(self.view.show_formatted)

    @command("edit.complete", "Ctrl+Space", "Meta+Space", place=(3, 1), context="editor")
    def _complete(self) -> None:
        self.view.edit.setFocus()
        self.view.completer.open()

    @command("edit.rename", "F2", place=(4, 3), context="editor")
    def _rename(self) -> None:
        """Rename the symbol at the cursor; in a list, edit the current item, as the key does everywhere."""
        focused = QApplication.focusWidget()
        if isinstance(focused, QAbstractItemView) and focused.currentIndex().isValid():
            focused.edit(focused.currentIndex())
        else:
            self.view.symbols.begin_rename()


PANE = PaneSpec("editor", "Ctrl+1", (1, 1), Area.COLUMN, EditorPresenter)
