"""Whether the calls of a program nest without bound, so that no finite automaton suffices."""

from __future__ import annotations

from engine.automata.closures import Closures
from engine.automata.program import Atom, Call, Pc, Program, RuleProgram, TokenAtom, successors
from engine.grammar.analysis import components
from engine.source import turn


def nests_without_bound(program: Program) -> bool:
    """Whether some rule can be entered again within itself with something left to do after it.

    Neither a call at a rule's very end nor left recursion nests: the one returns for its caller, the other goes on
    from a corner. The answer is about the rules as written: a grammar that nests may still describe a regular language.
    """
    if not program.rules:
        return False
    closures = Closures(program)
    calls: dict[str, set[str]] = {rule.name: set() for rule in program.rules}
    nesting: list[tuple[str, str]] = []
    for caller, rule in enumerate(program.rules):
        body, read = _reachable(program, rule)
        for pc in body:
            instruction = program.instructions[pc]
            if isinstance(instruction, Call):
                callee = program.rules[instruction.rule].name
                calls[rule.name].add(callee)
                is_left = pc not in read and caller in closures.corner(instruction.rule)
                if not instruction.last and not is_left:
                    nesting.append((rule.name, callee))
    cycle = {name: number for number, names in enumerate(components(calls)) for name in names}
    return any(cycle[caller] == cycle[callee] for caller, callee in nesting)


def _reachable(program: Program, rule: RuleProgram) -> tuple[set[Pc], set[Pc]]:
    """The instructions of a rule, and those that can be reached after it has read something."""
    body: set[Pc] = set()
    read: set[Pc] = set()
    todo = [(rule.start, False)]
    while todo:
        turn()
        pc, has_read = todo.pop()
        seen = read if has_read else body
        if pc in seen:
            continue
        seen.add(pc)
        body.add(pc)
        instruction = program.instructions[pc]
        reads = has_read or isinstance(instruction, Atom | TokenAtom | Call)
        todo += [(target, reads) for target in successors(instruction)]
        if isinstance(instruction, Call) and program.rules[instruction.rule].nullable:
            todo.append((instruction.to, has_read))
    return body, read
