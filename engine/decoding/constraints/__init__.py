"""What may come next: the grammar, or its absence; where in the output it rules; the machines beside it."""
