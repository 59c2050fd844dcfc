"""Byte automata: NFA programs and their lazy determinisation, DFA tables, recursive transition networks."""
