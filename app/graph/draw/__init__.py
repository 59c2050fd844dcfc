"""Draw a laid-out automaton: scene, view, layers, minimap."""
