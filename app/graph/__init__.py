"""The automaton as a drawing: what to show, where it goes, and the scene that shows it."""
