"""JSON Schema as boolean formulas over JSON values, interned, with their source spans."""
