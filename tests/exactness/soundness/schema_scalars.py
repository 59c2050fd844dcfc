"""Schemas about numbers and strings: bounds, multiples, lengths, patterns, and `enum` and `const` of any values.

The values have many digits, large exponents, and characters of four bytes.
"""

from __future__ import annotations

import random

from tests.exactness.soundness.json_values import NAMES
from tests.exactness.soundness.schema_making import ANY, NUMBER, STRING, Maker, choose_draft, of_draft, with_draft
from tests.exactness.soundness.schema_trial import check_schema
from tests.exactness.soundness.tally import Tally

_KEYWORDS = {
    **ANY,
    **NUMBER,
    **STRING,
    "more bounds": NUMBER["bounds"],
    "more lengths": STRING["lengths"],
}


def check(rng: random.Random, tally: Tally) -> None:
    """Make one schema of scalars and try texts on it."""
    draft = choose_draft(rng)
    names = rng.sample(NAMES, 2)
    schema = Maker(rng, draft, of_draft(_KEYWORDS, draft), names, value_depth=rng.randint(0, 2)).schema(2)
    check_schema(rng, tally, with_draft(schema, draft), draft, names, depth=rng.randint(0, 1))
