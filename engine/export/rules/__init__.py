"""Rules and their expressions, whatever notation they come from.

They are built in simplest form, derived from automata, named, and rewritten for engines with restrictions.
"""
