"""A grammar that runs by itself: which tokens may come next, and where a token leads.

Nothing but the standard library of Python 3.10 and later is needed:

    from guide import Guide

    guide = Guide.load("grammar.json")
    state = guide.start
    guide.allowed(state)  # the ids that may come next
    state = guide.advance(state, 42)  # the state behind id 42; None where it may not come

A state is a number: it can be kept, compared, copied and gone back to. The file
was written by Turnstile and says in `guide.about` what it was made from.
"""

from .guide import ENDED, Guide, GuideError

__all__ = ["ENDED", "Guide", "GuideError"]
