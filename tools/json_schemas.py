"""JSON schemas of what boards report: ``docs/schemas``, from the types of the code.

python -m tools.json_schemas            # writes them
python -m tools.json_schemas --check    # leaves with 1 when one is not that of the code
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import msgspec

from edge_asr.bench.document import Document, ModelIdentity
from edge_asr.bench.selftest import SelfTest

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "schemas"

_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_SURROUNDINGS: dict[str, Any] = {
    "length": {"enum": ["quick", "default", "long"]},
    "created": {"type": "string", "description": "Wall clock, ISO 8601 with offset."},
    "board": {"type": "object", "description": "The fingerprint of the machine."},
    "versions": {"type": "object", "additionalProperties": {"type": "string"}},
    "own_gates": {"type": "boolean", "description": "Whether --gate replaced gates of ours."},
}
"""What ``edge-asr selftest`` adds to the outcome."""


def schemas() -> dict[str, dict[str, Any]]:
    """File name to schema, as JSON has it: arrays are lists."""
    made = {"bench.schema.json": _bench(), "selftest.schema.json": _selftest()}
    return {name: json.loads(json.dumps(schema)) for name, schema in made.items()}


def _bench() -> dict[str, Any]:
    return {"$schema": _DIALECT, "title": "edge-asr bench --json", **msgspec.json.schema(Document)}


def _selftest() -> dict[str, Any]:
    (_, model), components = msgspec.json.schema_components((SelfTest, ModelIdentity), ref_template="#/$defs/{name}")
    own = components.pop("SelfTest")
    second = {"anyOf": [model, {"type": "null"}], "description": "What hears each segment again, where one is served."}
    return {
        "$schema": _DIALECT,
        "title": "edge-asr selftest --json",
        "type": "object",
        "properties": {**own["properties"], "model": model, "second_pass": second, **_SURROUNDINGS},
        "required": [*own["required"], "model", "second_pass", *_SURROUNDINGS],
        "$defs": components,
    }


def main() -> None:
    stale = []
    for name, schema in schemas().items():
        text = json.dumps(schema, indent=1) + "\n"
        path = FOLDER / name
        if sys.argv[1:] != ["--check"]:
            FOLDER.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        elif not path.is_file() or path.read_text(encoding="utf-8") != text:
            stale.append(name)
    if stale:
        sys.exit(f"{', '.join(stale)}: not those of the code; run `python -m tools.json_schemas`")


if __name__ == "__main__":
    main()
