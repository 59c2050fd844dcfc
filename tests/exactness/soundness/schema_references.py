"""Schemas with definitions, anchors and addresses, and references of all three kinds between them.

A schema gets two or three definitions. In some schemas each is a resource with an address of its own and a dynamic
anchor (`$recursiveAnchor` in draft 2019-09), so that one definition is reached on several paths with different dynamic
scopes.

Evaluation has to end: a definition refers to itself and to earlier ones only where another value is described, for
example in `properties`, not in `allOf`. Dynamic references may lead back to the root: few of them are made in place.
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
    definitions = ("one", "two", "three")[: rng.randint(2, 3)]
    addressed = rng.random() < 0.7
    key = "$defs" if draft >= 2019 else "definitions"
    make = Maker(rng, draft, of_draft(EVERY, draft), names, value_depth=1, reference_chance=0.35)
    to_definitions, dynamic = _references(draft, definitions, key, addressed=addressed)
    make.references += [*(reference for some in to_definitions.values() for reference in some), *3 * dynamic]
    make.references_in_place += [reference for some in to_definitions.values() for reference in some]
    root = _body(make, 2)
    make.references_in_place += dynamic if rng.random() < 0.25 else []
    below = {}
    for name in definitions:
        make.references_in_place = [each for each in make.references_in_place if each not in to_definitions[name]]
        below[name] = {**_marks(rng, draft, name, addressed=addressed), **_body(make, 2)}
    schema = with_draft({**_marks(rng, draft, _ADDRESS, addressed=addressed), **root, key: below}, draft)
    check_schema(rng, tally, schema, draft, names)


def _references(
    draft: int, definitions: tuple[str, ...], key: str, *, addressed: bool
) -> tuple[dict[str, list[dict[str, str]]], list[dict[str, str]]]:
    """Make the references that resolve: those to each definition, and the dynamic ones.

    A `$dynamicRef` needs an anchor in its own resource.
    """
    if addressed:
        dynamic = {2019: [{"$recursiveRef": "#"}], 2020: [{"$dynamicRef": "#node"}]}.get(draft, [])
        return {name: [{"$ref": name}] for name in definitions}, dynamic
    found = {name: [{"$ref": f"#/{key}/{name}"}] for name in definitions}
    for name in definitions if draft >= 2019 else ():
        found[name].append({"$ref": f"#{name}"})
    if draft == 2020:
        found["one"].append({"$dynamicRef": "#one"})
    return found, [{"$recursiveRef": "#"}] if draft == 2019 else []


def _marks(rng: random.Random, draft: int, name: str, *, addressed: bool) -> dict[str, Any]:
    """Make the address and the anchors of the root or a definition."""
    found: dict[str, Any] = {}
    if addressed:
        found["$id" if draft >= 6 else "id"] = name
    elif name != _ADDRESS and draft >= 2019:
        found["$dynamicAnchor" if draft == 2020 and rng.random() < 0.5 else "$anchor"] = name
    if draft == 2020 and addressed:
        found["$dynamicAnchor" if rng.random() < 0.75 else "$anchor"] = "node"
    elif draft == 2019 and (addressed or name == _ADDRESS) and rng.random() < 0.6:
        found["$recursiveAnchor"] = True
    return found


def _body(make: Maker, depth: int) -> dict[str, Any]:
    made = make.schema(make.rng.randint(1, depth))
    return made if isinstance(made, dict) and "$ref" not in made else {"allOf": [made]}
