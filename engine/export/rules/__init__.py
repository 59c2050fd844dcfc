"""Rules and the expressions in them, whatever they were written from.

Put together in their simplest form, solved from automata, named, and rewritten for engines that take less.
"""
