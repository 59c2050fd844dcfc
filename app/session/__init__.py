"""What the window knows of the work that goes on: the current compile result and the decode cursor.

Panes listen to the signals here; nobody but the session talks to the workers.
"""

from app.session.alarm import Alarm
from app.session.coalescing import Coalescing
from app.session.compiling import Compiling, Drawn
from app.session.converting import Converting
from app.session.debugging import Debugging
from app.session.decoding import Decoding, view_of
from app.session.groups import Groups
from app.session.judging import Judging
from app.session.ruled import ruled_text
from app.session.session import Session

__all__ = [
    "Alarm",
    "Coalescing",
    "Compiling",
    "Converting",
    "Debugging",
    "Decoding",
    "Drawn",
    "Groups",
    "Judging",
    "Session",
    "ruled_text",
    "view_of",
]
