"""The state behind the window: the compile result, the decode session and the queries to the workers.

Panes connect to the signals here. Only the session talks to the workers.
"""

from app.session.compiling import CompiledGrammarView, Compiling
from app.session.converting import Converting
from app.session.debugging import Debugging
from app.session.decoding import Decoding, view_of
from app.session.queries import ForcedQueries
from app.session.session import Notification, Session, WorkerPool
from app.session.test_runs import StringTestRuns

__all__ = [
    "CompiledGrammarView",
    "Compiling",
    "Converting",
    "Debugging",
    "Decoding",
    "ForcedQueries",
    "Notification",
    "Session",
    "StringTestRuns",
    "WorkerPool",
    "grammar_prefix",
    "view_of",
]
