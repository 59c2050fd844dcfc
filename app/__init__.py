"""The desktop application (PySide6). `engine` never imports it."""
