"""What Turnstile ships besides code: examples, the bundled models and icons.

It is a package so that one spelling finds a file in the checkout and when
installed: `importlib.resources.files("resources") / "examples"`. Rejected:
paths from `__file__` of the modules that use them, which break as soon as a
module moves, and data under the wheel's `share/`, which pipx hides.
"""
