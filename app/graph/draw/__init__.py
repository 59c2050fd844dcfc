"""Drawing of laid-out automata: scene, view, layers, minimap."""
