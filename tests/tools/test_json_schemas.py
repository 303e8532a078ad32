"""The schemas of what boards report are those of the code."""

from __future__ import annotations

import json

import jsonschema
import pytest

from tools.json_schemas import FOLDER, schemas


def test_they_are_written_down() -> None:
    assert {path.name: json.loads(path.read_text()) for path in FOLDER.iterdir()} == schemas()


@pytest.mark.parametrize("name", schemas())
def test_each_is_a_schema(name) -> None:
    jsonschema.Draft202012Validator.check_schema(schemas()[name])
