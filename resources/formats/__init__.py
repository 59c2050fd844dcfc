"""The formats' automata as tables, and the script that writes them."""
