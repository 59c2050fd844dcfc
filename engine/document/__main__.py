"""Print the JSON Schema of `.turnstile` files: `python -m engine.document > resources/document.schema.json`."""

import json

from engine.document.codec import json_schema

if __name__ == "__main__":
    print(json.dumps(json_schema(), indent=1))  # noqa: T201
