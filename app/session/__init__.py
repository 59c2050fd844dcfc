"""What the window knows of the work that goes on: the current compile result and the decode cursor.

Panes listen to the signals here; nobody but the session talks to the workers.
"""

from app.session.compiling import Compiling, Drawn
from app.session.converting import Converting
from app.session.debugging import Debugging
from app.session.decoding import Decoding, view_of
from app.session.forced import Coalescing
from app.session.grammar_prefix import ruled_text
from app.session.notification import Alarm
from app.session.session import Session
from app.session.test_runs import Judging
from app.session.worker_pool import Groups

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
