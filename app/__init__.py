"""The window: what people see of the engine. `engine` never imports it."""
