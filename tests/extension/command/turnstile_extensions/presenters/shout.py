"""A command that writes the grammar's text in upper case."""

from app.commands import command


class Shout:
    """Handles the command."""

    def __init__(self, window):
        self._window = window
        window.commands.add(self, window.session.document.changed)

    @property
    def refusal(self):
        return "" if self._window.session.document.content.grammar.text else "There is no text"

    @command("shout.text", "Ctrl+R, U", menu="edit", place=(5, 9), refusal=lambda self: self.refusal)
    def shout(self):
        document = self._window.session.document
        document.set_text(document.content.grammar.text.upper())


PRESENTER = Shout
