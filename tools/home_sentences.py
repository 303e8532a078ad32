"""Home Assistant's own English sentences, from ``home-assistant-intents``, with the entities of a made-up home."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import islice, product
from pathlib import Path
from typing import Any

HOME = Path(__file__).resolve().parent / "grammars" / "home.yaml"
"""Rooms, devices and what they can be set to."""

OWNERS = """Ada Bruno Clara Dario Edith Felix Greta Henry Irene Jonas Karin Louis Maria Nadia Oscar Paula Quinn Rosa
Simon Theo Ursula Victor Wendy Xenia Yusuf"""
PLACES = "reading floor wall shelf"
THINGS = "lamp light strip spot lantern bulb socket heater fan switch"


def english_sentences() -> dict[str, Any]:
    """The package's file, as it is: ``intents``, ``lists``, ``expansion_rules``, ``skip_words``."""
    import home_assistant_intents

    path = Path(home_assistant_intents.__file__).parent / "data" / "en.json"
    sentences: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return sentences


def command_files(sentences: dict[str, Any]) -> dict[str, str]:
    """Texts by name, as templates are read from: these sentences, and what they may be about in the home."""
    return {"home-assistant-intents": json.dumps(sentences), str(HOME): HOME.read_text(encoding="utf-8")}


def without_wildcards(sentences: dict[str, Any]) -> dict[str, Any]:
    """All but lists that take any words: of what is said of them nothing would be false."""
    closed = {name: values for name, values in sentences["lists"].items() if not values.get("wildcard")}
    return {**sentences, "lists": closed}


def more_names(count: int) -> Iterator[str]:
    """Names of devices as people give them ("Clara reading lamp"), at most 1,000."""
    return islice(map(" ".join, product(OWNERS.split(), PLACES.split(), THINGS.split())), count)
