"""JSON Schema: from text to a formula over JSON values."""

from engine.notations.json_schema.parser import SchemaModel, parse

__all__ = ["SchemaModel", "parse"]
