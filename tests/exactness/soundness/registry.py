"""The generators of the soundness fuzzer.

A generator is one module with a function `check(rng, tally)`. It makes one grammar from the random numbers, tries
several texts on it, and reports each comparison to the tally. To add one, import its module here and name it.
"""

from __future__ import annotations

import random
from collections.abc import Callable

from tests.exactness.soundness import schema_keywords
from tests.exactness.soundness.tally import Tally

Check = Callable[[random.Random, Tally], None]

GENERATORS: dict[str, Check] = {
    "schema-keywords": schema_keywords.check,
}
"""The generators by the name that the command line and the reports use."""
