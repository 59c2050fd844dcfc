"""Constraints of a session: the grammar or its absence, zones of the output, and the automata beside the grammar."""
