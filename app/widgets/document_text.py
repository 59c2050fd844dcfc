"""The text of a Qt document, exactly."""

from PySide6.QtGui import QTextDocument


def document_text(document: QTextDocument) -> str:
    """Return the text; unlike `toPlainText`, it keeps spaces that do not break a line as they are."""
    return document.toRawText().replace("\u2029", "\n").replace("\u2028", "\n")
