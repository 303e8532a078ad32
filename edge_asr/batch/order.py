"""From a model and the settings to what workers are told, and to what the ledger remembers of it."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import msgspec

from edge_asr import __version__
from edge_asr.batch.ledger import Recipe
from edge_asr.batch.messages import Order
from edge_asr.requests import Channel
from edge_asr.settings import Settings
from edge_asr.store.digest import sha256_of
from edge_asr.store.store import InstalledModel
from edge_asr.workers.configuration import pack
from edge_asr.workers.enrolled import EnrolledVoices

_WITHOUT_EFFECT_ON_WORDS = frozenset(
    ("threads", "parallel_streams", "allow_spinning", "memory_profile", "partial_interval_ms")
)
"""Settings of the engine with which a batch may go on after they were changed."""


def make_order(
    model: InstalledModel,
    settings: Settings,
    vad_model: Path | None,
    channel: Channel | Literal["each"],
    punctuation_model: Path | None = None,
    second: InstalledModel | None = None,
    voices: EnrolledVoices | None = None,
    *,
    raw: str = "",
) -> Order:
    """What every worker is to hear with: on one thread each, for processes share cores better than threads do.

    Args:
        model: What recognises speech.
        settings: With what.
        vad_model: File of the voice activity detector, where one is installed.
        channel: Which of several is heard.
        punctuation_model: Directory of the punctuation model, where one is installed.
        second: What hears each segment again.
        voices: What tells speakers apart.
        raw: How samples without a header are written; empty where recordings have headers.

    Raises:
        ConfigurationError: The files of spoken commands or hotwords cannot be read.
    """
    engine = replace(settings.engine, threads=1, parallel_streams=1)
    again = replace(settings.second_pass, threads=1)
    told = replace(settings, engine=engine, second_pass=again)
    behind = second.directory.absolute() if second else None
    return Order(
        configure=pack(model.directory.absolute(), told, vad_model, punctuation_model, behind, voices=voices),
        model=model.manifest.name,
        digests=digests_of(model),
        version=__version__,
        channel=channel,
        raw=raw,
    )


def recipe_of(order: Order, transcript_format: str) -> Recipe:
    """What all transcripts of one folder have in common."""
    return Recipe(
        model=order.model,
        model_digest=_digest(order.digests),
        settings_digests={group: _digest(value) for group, value in _what_words_depend_on(order).items()},
        transcript_format=transcript_format,
        channel=order.channel,
        raw=order.raw,
    )


def digests_of(model: InstalledModel) -> dict[str, str]:
    """File to SHA-256, as the manifest has it or, where it does not, of the file itself."""
    return {file.path: file.sha256 or sha256_of(model.directory / file.path) for file in model.manifest.files.values()}


def _what_words_depend_on(order: Order) -> dict[str, Any]:
    groups = order.configure.settings
    engine = {name: value for name, value in groups["engine"].items() if name not in _WITHOUT_EFFECT_ON_WORDS}
    commands = list(order.configure.commands.values()), groups["commands"]
    behind = {"second_pass": groups["second_pass"]["model"]} if order.configure.second_model else {}
    if order.configure.speaker_model:
        behind["speakers"] = [groups["speakers"], order.configure.voices]
    return behind | {
        "engine": engine,
        "endpoint": groups["endpoint"],
        "text": groups["text"],
        "punctuation": bool(order.configure.punctuation_model),
        "commands": commands,
        "hotwords": list(order.configure.hotwords.values()),
        "vad": bool(order.configure.vad_model),
    }


def _digest(value: object) -> str:
    return hashlib.sha256(msgspec.json.encode(value, order="deterministic")).hexdigest()[:16]
