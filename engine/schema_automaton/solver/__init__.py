"""Satisfiability of formulas, and the state machines of arrays and objects."""
