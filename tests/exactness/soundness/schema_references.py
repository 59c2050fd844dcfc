"""Schemas with definitions, anchors and addresses, and references of all three kinds between them.

A schema gets two or three definitions, some of them resources with an address of their own, each with a dynamic anchor
(`$recursiveAnchor` in draft 2019-09). Every subschema may refer to any of them, so that one definition is reached on
several paths, with different dynamic scopes.
"""

from __future__ import annotations

import random
from typing import Any

from tests.exactness.soundness.json_values import NAMES
from tests.exactness.soundness.schema_making import EVERY, Maker, of_draft, with_draft
from tests.exactness.soundness.schema_trial import check_schema
from tests.exactness.soundness.tally import Tally

_ADDRESS = "https://example.com/root"


def check(rng: random.Random, tally: Tally) -> None:
    """Make one schema with references and try texts on it."""
    draft = rng.choice((4, 7, 2019, 2019, 2020, 2020, 2020, 2020))
    names = rng.sample(NAMES[:4], 3)
    make = Maker(rng, draft, of_draft(EVERY, draft), names, value_depth=1)
    key = "$defs" if draft >= 2019 else "definitions"
    identifier = "$id" if draft >= 6 else "id"
    definitions = ("one", "two", "three")[: rng.randint(2, 3)]
    with_addresses = rng.random() < 0.7
    make.references += [{"$ref": f"#/{key}/{name}"} for name in definitions]
    if draft == 2020:
        make.references += [{"$dynamicRef": "#node"}] * 3
        make.references += [{"$ref": f"#{name}"} for name in definitions]
    elif draft == 2019:
        make.references += [{"$recursiveRef": "#"}] * 3
    if with_addresses:
        make.references = [
            reference for reference in make.references if not reference.get("$ref", "").startswith("#")
        ] + [{"$ref": name} for name in definitions]
    make.reference_chance = 0.35

    def marks(name: str) -> dict[str, Any]:
        found: dict[str, Any] = {}
        if with_addresses:
            found[identifier] = name
        if draft == 2020:
            # A dynamic reference must resolve in its own resource, with or without an address.
            found["$dynamicAnchor" if with_addresses or name == "one" else "$anchor"] = (
                "node" if with_addresses or name == "one" else f"plain-{name}"
            )
            if not with_addresses:
                found.setdefault("$anchor", name)
        elif draft == 2019 and with_addresses and rng.random() < 0.6:
            found["$recursiveAnchor"] = True
        return found

    def body(depth: int) -> dict[str, Any]:
        made = make.schema(depth)
        return made if isinstance(made, dict) and "$ref" not in made else {"allOf": [made]}

    root = body(2)
    below = {name: {**marks(name), **body(rng.randint(1, 2))} for name in definitions}
    top: dict[str, Any] = {identifier: _ADDRESS} if with_addresses else {}
    if draft == 2020 and (with_addresses and rng.random() < 0.7):
        top["$dynamicAnchor"] = "node"
    elif draft == 2020 and with_addresses:
        top["$anchor"] = "node"
    if draft == 2019 and rng.random() < 0.6:
        top["$recursiveAnchor"] = True
    schema = with_draft({**top, **root, key: below}, draft)
    check_schema(rng, tally, schema, draft, names)
