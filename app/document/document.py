"""The document of a window: its text, its revision, its file.

The editor owns undo; the document owns the revision, which names a state of the text for every job that uses it. An
edit marks the document as modified; a step does not, but is autosaved with the rest.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import msgspec
from PySide6.QtCore import QObject, Signal

from app.delays import delayed
from app.document import file
from app.document.autosave import Autosave, Leftover
from app.document.gallery import examples
from engine.decoding.debugging.breakpoints import Breakpoint, ConditionBreakpoint
from engine.decoding.pipeline_settings import PipelineSettings
from engine.decoding.values import ArchivedBranch, Chat, SamplerSettings, Trace
from engine.diagnosis.private_texts import without_secrets
from engine.document.content import (
    AutomatonPart,
    DocumentFile,
    ExpectedText,
    GrammarPart,
    GrammarVersion,
    ModelPart,
    StateNote,
)


@dataclass(frozen=True, slots=True)
class ExampleExtras:
    """The parts of a document that are removed and restored with a grammar.

    Attributes:
        title: the example's.
        expected_texts: those of the example's test strings that the document still had.
        before: the grammar that they belong to.
        after: the grammar that replaced it; the latest one while they are removed.
        are_removed: whether they are removed.
    """

    title: str
    expected_texts: tuple[ExpectedText, ...]
    before: GrammarPart
    after: GrammarPart
    are_removed: bool = False

    def removed_from(self, content: DocumentFile) -> DocumentFile:
        """Return the document without the extras."""
        remaining = tuple(one for one in content.test_strings if one not in self.expected_texts)
        return msgspec.structs.replace(content, title="", test_strings=remaining)

    def restored_to(self, content: DocumentFile) -> DocumentFile:
        """Return the document with the extras; test strings that were added meanwhile stay."""
        added = tuple(one for one in content.test_strings if one not in self.expected_texts)
        return msgspec.structs.replace(content, title=self.title, test_strings=(*self.expected_texts, *added))

    def after_change(self, grammar: GrammarPart) -> ExampleExtras:
        """Return the extras after a change of the grammar, which may be an undo or a redo."""
        if not self.are_removed:
            return replace(self, are_removed=grammar == self.after)
        if grammar == self.before:
            return replace(self, are_removed=False)
        return replace(self, after=grammar)


def example_extras(content: DocumentFile, before: GrammarPart) -> ExampleExtras | None:
    """Return the extras of the example that a document came from; None if there is none.

    Args:
        content: the document.
        before: its grammar before the last edit.
    """
    example = next((one for one in examples() if one.title == content.title), None)
    if example is None:
        return None
    of_example = example.document().test_strings
    kept = tuple(one for one in content.test_strings if one in of_example)
    return ExampleExtras(content.title, kept, before, content.grammar)


_AUTOSAVE_AFTER_MS = 500  # after the first unsaved change, whatever follows; at most a second may be lost
_ARCHIVED_BRANCHES = 8


class Document(QObject):
    """One open document.

    Signals:
        changed(revision): the grammar's text or its options changed.
        target_changed(): only the engine changed that the grammar is written for.
        replaced(): another document was opened; panes read it again.
        title_changed(): its path, its title or its modified flag changed.
        archived_changed(): a branch was archived, renamed or removed.
        breakpoints_changed(): a breakpoint was set, removed, enabled or disabled, also one on a condition.
        test_strings_changed(): they were removed or restored with the grammar that they belong to.
        state_notes_changed(): notes about states were changed.
        autosave_failed(reason): a crash would lose the changes from now on.
    """

    changed = Signal(int)
    target_changed = Signal()
    replaced = Signal()
    title_changed = Signal()
    autosave_failed = Signal(str)
    breakpoints_changed = Signal()
    archived_changed = Signal()
    test_strings_changed = Signal()
    state_notes_changed = Signal()

    def __init__(self, autosave: Autosave, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._autosave = autosave
        autosave.on_failure = self.autosave_failed.emit
        self._content = DocumentFile()
        self._revision = 0
        self._path: Path | None = None
        self._stamp: tuple[int, int] | None = None  # of the file, when it was last read or written here
        self._modified = False
        self._grammar_before = self._content.grammar  # before the last edit
        self._saved_grammar = self._content.grammar
        self._saved_in: Path | None = None
        self._extras: ExampleExtras | None = None
        self._drafts: dict[str, object] = {}
        self._timer = delayed(self, _AUTOSAVE_AFTER_MS, self.autosave_now)

    @property
    def content(self) -> DocumentFile:
        """Return the content that would be saved."""
        return self._content

    @property
    def revision(self) -> int:
        """Return the number of the grammar's current state; it never decreases."""
        return self._revision

    @property
    def path(self) -> Path | None:
        """Return its file; None before it has one."""
        return self._path

    @property
    def is_modified(self) -> bool:
        """Return whether closing it would lose an edit."""
        return self._modified

    @property
    def saved_grammar(self) -> GrammarPart:
        """Return the grammar as it was last opened or saved."""
        return self._saved_grammar

    @property
    def saved_in(self) -> Path | None:
        """Return the file that has the saved grammar; None if it is in none."""
        return self._saved_in

    @property
    def is_changed_outside(self) -> bool:
        """Return whether another window or program wrote its file since it was read or written here."""
        now = _stamp_of(self._path)
        return now is not None and now != self._stamp

    @property
    def title(self) -> str:
        """Return the title for the window."""
        return self._path.stem if self._path else self._content.title or "Untitled"

    def set_text(self, text: str) -> None:
        """Store an edit of the grammar's text."""
        self.set_grammar(msgspec.structs.replace(self._content.grammar, text=text))

    def set_grammar(self, grammar: GrammarPart) -> None:
        """Store a grammar with another text, notation, options or target; an edit like any other."""
        before = self._content.grammar
        if grammar == before:
            return
        self._change(grammar=grammar)
        if grammar.with_target_of(before) == before:
            self._set_modified(modified=True)
            self.target_changed.emit()
            return
        self._grammar_before = before
        if self._extras is not None:
            self._keep_extras(self._extras.after_change(grammar))
        self._touch_grammar()

    def detach_example(self) -> bool:
        """Handle an edit that replaced the whole text: remove the extras of an example.

        Returns:
            whether test strings were removed; undoing the edit restores all of them.
        """
        found = None if self._path else example_extras(self._content, self._grammar_before)
        if found is None:
            return False
        self._extras = found
        self._keep_extras(replace(found, are_removed=True))
        return bool(found.expected_texts)

    def draft(self, *, prompt: str | Chat | None = None, pipeline: PipelineSettings | None = None) -> None:
        """Store input that is not active yet: it is autosaved instead of the active values."""
        for name, value in (("prompt", prompt), ("pipeline", pipeline)):
            if value is not None and value != getattr(self._content, name):
                self._drafts[name] = value
            elif value is not None:
                self._drafts.pop(name, None)
        self._autosave_soon()

    @property
    def has_drafts(self) -> bool:
        """Return whether there is input that is not active yet."""
        return bool(self._drafts)

    def drop_draft(self, name: Literal["prompt", "pipeline"]) -> None:
        """Drop stored input, which was refused or is active now."""
        if self._drafts.pop(name, None) is not None:
            self._autosave_soon()

    def set_prompt(self, prompt: str | Chat) -> None:
        """Store an edit of the prompt."""
        self.drop_draft("prompt")
        if prompt != self._content.prompt:
            self._change(prompt=prompt)
            self._set_modified(modified=True)

    def set_sampler(self, sampler: SamplerSettings) -> None:
        """Store a change of the sampler."""
        if sampler != self._content.sampler:
            self._change(sampler=sampler)
            self._set_modified(modified=True)

    def set_max_tokens(self, max_tokens: int) -> None:
        """Store a change of the budget, in tokens."""
        if max_tokens != self._content.max_tokens:
            self._change(max_tokens=max_tokens)
            self._set_modified(modified=True)

    def set_pipeline(self, pipeline: PipelineSettings) -> None:
        """Store a change of the stages between the model and the sampler."""
        if self._drafts.get("pipeline") == pipeline:
            self.drop_draft("pipeline")
        if pipeline != self._content.pipeline:
            self._change(pipeline=pipeline)
            self._set_modified(modified=True)

    def set_expected_texts(self, texts: tuple[ExpectedText, ...]) -> None:
        """Store an edit of the test strings."""
        if texts != self._content.test_strings:
            self._change(test_strings=texts)
            self._set_modified(modified=True)

    def set_sample(self, text: str) -> None:
        """Store a change of the sample text."""
        if text != self._content.sample:
            self._change(sample=text)
            self._set_modified(modified=True)

    def set_breakpoints(self, breakpoints: tuple[Breakpoint, ...]) -> None:
        """Store a change of the breakpoints."""
        if breakpoints != self._content.breakpoints:
            self._change(breakpoints=breakpoints)
            self._set_modified(modified=True)
            self.breakpoints_changed.emit()

    def set_conditions(self, conditions: tuple[ConditionBreakpoint, ...]) -> None:
        """Store a change of the conditions that stop runs."""
        if conditions != self._content.conditions:
            self._change(conditions=conditions)
            self._set_modified(modified=True)
            self.breakpoints_changed.emit()

    def set_state_notes(self, notes: tuple[StateNote, ...]) -> None:
        """Store a change of the notes about states."""
        if notes != self._content.state_notes:
            self._change(state_notes=notes)
            self._set_modified(modified=True)
            self.state_notes_changed.emit()

    def set_versions(self, versions: tuple[GrammarVersion, ...]) -> None:
        """Store a change of the versions of the grammar."""
        if versions != self._content.versions:
            self._change(versions=versions)
            self._set_modified(modified=True)

    def set_model(self, model: ModelPart) -> None:
        """Store the model of the trace."""
        if model != self._content.model:
            self._change(model=model)

    def set_automaton(self, automaton: AutomatonPart) -> None:
        """Store the view of the automaton; that is no edit."""
        if automaton != self._content.automaton:
            self._change(automaton=automaton)

    def set_trace(self, trace: Trace) -> None:
        """Store the trace of the session."""
        if trace != self._content.trace:
            self._change(trace=trace)

    def add_archived(self, branch: ArchivedBranch) -> None:
        """Store a branch that a new prompt or a new model archived; the oldest of many without a name is dropped."""
        others = [archived for archived in self._content.archived if archived != branch]
        unnamed = [archived for archived in (branch, *others) if not archived.name]
        dropped = unnamed[_ARCHIVED_BRANCHES:]
        self._set_archived(tuple(one for one in (branch, *others) if not any(one is other for other in dropped)))

    def change_archived(self, branch: ArchivedBranch, changed: ArchivedBranch | None) -> None:
        """Replace an archived branch; None removes it."""
        kept = (changed if one == branch else one for one in self._content.archived)
        self._set_archived(tuple(one for one in kept if one is not None))
        self._set_modified(modified=True)

    def _set_archived(self, archived: tuple[ArchivedBranch, ...]) -> None:
        if archived != self._content.archived:
            self._change(archived=archived)
            self.archived_changed.emit()

    def replace(self, content: DocumentFile, path: Path | None = None, *, modified: bool = False) -> None:
        """Replace the document.

        Args:
            content: the new content.
            path: its file; None if it has none.
            modified: whether it has unsaved edits.
        """
        self._timer.stop()
        self._drafts.clear()
        self._content, self._path, self._stamp = content, path, _stamp_of(path)
        self._saved_grammar, self._saved_in = content.grammar, None if modified else path
        self._extras = None
        self._revision += 1
        self._modified = modified
        if modified:
            self._autosave_soon()
        else:
            self._autosave.discard()
        self.replaced.emit()
        self.changed.emit(self._revision)
        self.title_changed.emit()

    def open(self, path: Path) -> int:
        """Open a file instead of the current document; without its secrets, whose number is returned.

        Raises:
            DocumentError: the current document stays as it is.
        """
        content, removed = without_secrets(file.read_document(path))
        self.replace(content, path, modified=removed > 0)
        return removed

    def save(self, path: Path) -> None:
        """Write to a file, which becomes the document's own.

        Raises:
            DocumentError: the document stays open and modified.
        """
        file.write_document(path, self._content)
        self._path, self._stamp = path, _stamp_of(path)
        self._saved_grammar, self._saved_in = self._content.grammar, path
        self._timer.stop()
        self._autosave.discard()
        if self._drafts:
            self._autosave_soon()
        self._modified = False
        self.title_changed.emit()

    @property
    def autosave(self) -> Autosave:
        """Return the autosave, which also finds the leftovers of other windows."""
        return self._autosave

    def recover(self, leftover: Leftover) -> None:
        """Show the autosave of a window that did not exit cleanly."""
        self._autosave.take(leftover)
        saved = leftover.saved
        self.replace(saved.document, Path(saved.path) if saved.path else None, modified=True)

    def save_for_next_start(self, ended_by: str) -> None:
        """Autosave now, and wait for it, because the process is about to end.

        Args:
            ended_by: what ends it, for the next start.
        """
        self.autosave_now(ended_by)
        self._autosave.flush()

    def close(self, *, keeps_autosave: bool = False) -> None:
        """Close the document; delete the autosave, unless it is kept."""
        self._timer.stop()
        self._autosave.close(keeps=keeps_autosave)

    def _change(self, **changes: object) -> None:
        fields = {name: getattr(self._content, name) for name in DocumentFile.__struct_fields__}
        self._content = DocumentFile(**{**fields, **changes})
        self._autosave_soon()

    def _autosave_soon(self) -> None:
        """Start the timer at the first unsaved change; later changes do not restart it."""
        if not self._timer.isActive():
            self._timer.start()

    def _keep_extras(self, extras: ExampleExtras) -> None:
        """Remove or restore the extras if that changed."""
        before, self._extras = self._extras, extras
        if before is not None and before.are_removed != extras.are_removed:
            change = extras.removed_from if extras.are_removed else extras.restored_to
            self._content = change(self._content)
            self._autosave_soon()
            self.test_strings_changed.emit()
            self.title_changed.emit()

    def _touch_grammar(self) -> None:
        self._revision += 1
        self._set_modified(modified=True)
        self.changed.emit(self._revision)

    def _set_modified(self, *, modified: bool) -> None:
        if modified != self._modified:
            self._modified = modified
            self.title_changed.emit()

    def autosave_now(self, ended_by: str = "") -> None:
        """Write the autosave without waiting for the timer.

        Args:
            ended_by: what is about to end the window; empty if nothing is.
        """
        self._timer.stop()
        self._autosave.save(msgspec.structs.replace(self._content, **self._drafts), self._path, ended_by=ended_by)


def _stamp_of(path: Path | None) -> tuple[int, int] | None:
    """Return what distinguishes a file from a later version of it; None if there is none."""
    try:
        stat = path.stat() if path is not None else None
    except OSError:
        return None
    return None if stat is None else (stat.st_mtime_ns, stat.st_size)
