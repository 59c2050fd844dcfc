"""Automata as graphs: states are nodes, what is read or called are edges.

They are written as Graphviz text and as networks with attributes, drawn from the former, and read back from both.
"""
