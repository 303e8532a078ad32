"""The container recipe without a container engine: its instructions, carried out in a Debian root.

Understood is what the recipe uses; anything else is an error, so that the recipe cannot outgrow its test unseen.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast, get_args

from edge_asr.deployment.target import Machine, Release
from tools.debian_root import DebianRoot, ensure_root

_WITHOUT_EFFECT = ("VOLUME", "EXPOSE", "STOPSIGNAL", "HEALTHCHECK")
"""What an engine does with a running container, not with its root."""

OF_THE_BASE = ("passwd",)
"""What the image of Debian has beside the essential packages and apt, as far as the recipe uses it."""

_BASE = re.compile(r"debian:(\w+)-slim")
_CONTEXT = re.compile(r"--mount=type=bind,target=(\S+)\s+(.*)", re.DOTALL)


@dataclass(slots=True)
class Image:
    """What the recipe makes: a root, and how something is started in it."""

    root: DebianRoot
    environment: dict[str, str] = field(default_factory=dict)
    user: str = "0"
    entrypoint: list[str] = field(default_factory=list)
    command: list[str] = field(default_factory=list)


def instructions(recipe: str) -> Iterator[tuple[str, str]]:
    """Keyword and rest of each instruction; continued lines are joined, comments are gone."""
    lines = [line for line in recipe.splitlines() if not line.lstrip().startswith("#")]
    for line in re.sub(r"\\\n", " ", "\n".join(lines)).splitlines():
        if line.strip():
            keyword, _, rest = line.strip().partition(" ")
            yield keyword, rest.strip()


def build_image(recipe: str, context: Path, folder: Path, machine: Machine) -> Image:
    """Carry a recipe out.

    Args:
        recipe: Text of the Containerfile.
        context: The folder that the recipe copies from.
        folder: Where the root goes.
        machine: Whose programs are in it.

    Raises:
        ValueError: An instruction is not understood.
        Failed: A command of it failed.
    """
    (_, base), *rest = instructions(recipe)
    image = Image(ensure_root(folder, base_release(base), machine, OF_THE_BASE))
    for keyword, words in rest:
        _carry_out(image, keyword, words, context)
    return image


def base_release(base: str) -> Release:
    """The release of Debian that an image's name stands for.

    Raises:
        ValueError: It is no image of Debian.
    """
    match = _BASE.fullmatch(base)
    if match is None or match[1] not in get_args(Release):
        raise ValueError(f"FROM {base}: not a slim image of {' or '.join(get_args(Release))}")
    return cast("Release", match[1])


def _carry_out(image: Image, keyword: str, words: str, context: Path) -> None:
    if keyword == "RUN":
        _run(image, words, context)
    elif keyword == "ENV":
        image.environment |= dict(word.split("=", 1) for word in shlex.split(words))
    elif keyword == "USER":
        image.user = words
    elif keyword == "ENTRYPOINT":
        image.entrypoint = json.loads(words)
    elif keyword == "CMD":
        image.command = json.loads(words)
    elif keyword not in _WITHOUT_EFFECT:
        raise ValueError(f"{keyword} {words}: the recipe has an instruction that its test does not know")


def _run(image: Image, words: str, context: Path) -> None:
    options: list[str] = []
    if mounted := _CONTEXT.fullmatch(words):
        target, words = mounted.groups()
        options = ["--ro-bind", str(context), target]
    needs_network = "apt-get" in words  # and nothing else may: the bundle holds the rest
    environment = image.environment | {"DEBIAN_FRONTEND": "noninteractive"}
    image.root.run("sh", "-c", words, has_network=needs_network, options=options, environment=environment)
