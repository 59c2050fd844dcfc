"""Judge an output against a grammar: complete, cut off, illegal at a position, looping."""
