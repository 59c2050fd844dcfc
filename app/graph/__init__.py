"""Drawings of automata: what to show, the layout, and the scene."""
