"""A test whether the calls of a program nest without bound, so that no finite automaton suffices."""

from __future__ import annotations

from engine.automata.nfa.closures import Closures
from engine.automata.nfa.program import Call, CharClass, Pc, Program, RuleProgram, TokenAtom, successors
from engine.grammar.analysis import components
from engine.source import checkpoint


def nests_without_bound(program: Program) -> bool:
    """Return whether some rule can be entered again within itself with something left to do after it.

    Neither a call at a rule's very end nor left recursion nests: the former returns in place of its caller, the latter
    continues from a corner. If both are combined, corners pile up, unless the only rule that ends others in this way is
    all that they can be (see `Stacks.push_called`). The answer is about the rules as written: a grammar that nests may
    still describe a regular language.
    """
    if not program.rules:
        return False
    closures = Closures(program)
    calls: dict[str, set[str]] = {rule.name: set() for rule in program.rules}
    nesting: list[tuple[str, str]] = []
    ending: dict[int, set[int]] = {}
    for caller, rule in enumerate(program.rules):
        body, read = _reachable(program, rule)
        for pc in body:
            instruction = program.instructions[pc]
            if isinstance(instruction, Call):
                callee = program.rules[instruction.rule].name
                calls[rule.name].add(callee)
                is_left = pc not in read and caller in closures.corner(instruction.rule)
                if is_left:
                    continue
                if instruction.last:
                    ending.setdefault(caller, set()).add(instruction.rule)
                else:
                    nesting.append((rule.name, callee))
    cycle = {name: number for number, names in enumerate(components(calls)) for name in names}
    return any(cycle[caller] == cycle[callee] for caller, callee in nesting) or _piles(closures, ending)


def _piles(closures: Closures, ending: dict[int, set[int]]) -> bool:
    """Return whether corners pile up; `ending` are the rules that each one may end with, except left recursion."""
    goals: dict[frozenset[int], int] = {}
    for rule, ends in ending.items():
        corner = closures.corner(rule)
        todo = [(called, False) for called in ends] if corner else []
        seen = set(todo)
        while todo:
            checkpoint()
            called, piled = todo.pop()  # and whether another corner lies between
            inner = closures.corner(called)
            if inner == corner:
                if piled or goals.setdefault(corner, called) != called or not closures.ends(rule, called):
                    return True
                continue
            following = [(end, piled or bool(inner)) for member in inner or (called,) for end in ending.get(member, ())]
            todo += [step for step in following if step not in seen]
            seen.update(following)
    return False


def _reachable(program: Program, rule: RuleProgram) -> tuple[set[Pc], set[Pc]]:
    """Return the instructions of a rule, and those that can be reached after it has read something."""
    body: set[Pc] = set()
    read: set[Pc] = set()
    todo = [(rule.start, False)]
    while todo:
        checkpoint()
        pc, has_read = todo.pop()
        seen = read if has_read else body
        if pc in seen:
            continue
        seen.add(pc)
        body.add(pc)
        instruction = program.instructions[pc]
        reads = has_read or isinstance(instruction, CharClass | TokenAtom | Call)
        todo += [(target, reads) for target in successors(instruction)]
        if isinstance(instruction, Call) and program.rules[instruction.rule].nullable:
            todo.append((instruction.to, has_read))
    return body, read
