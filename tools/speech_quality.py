"""Everything that is said of accuracy, measured on people: words, commands in noise, false commands, numbers.

::

    EDGE_ASR_DATA=DATA python tools/quality.py speech [--every 4] [--json FILE]

Words: the telephone prompts by ``moonshine-tiny-en`` and spoken digits by ``starter-en``, each a live session.
Commands: real orders of coffee, clean and in four noises at 0 to 24 dB. False commands: what is said in the prompts,
the digits and the orders, held against grammars of something else. Numbers: the table of the tests. Without
``EDGE_ASR_DATA`` only the prompts and the numbers are measured.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from commands_accuracy import (
    POISSON_95,
    Clip,
    Ear,
    data,
    grammar,
    hours,
    load_decoder,
    orders,
    others,
    samples,
    score_of,
    smart_home,
)
from prompts import load_prompts
from tiers import hear_all, load_tier

from edge_asr.audio import Float32Array
from edge_asr.cli.stores import DICTATION_MODEL
from edge_asr.pipeline.itn import InverseNormaliser
from edge_asr.scoring import score
from edge_asr.settings import CommandSettings
from edge_asr.workload import Clip as Recording
from edge_asr.workload import load_clip

ROOT = Path(__file__).resolve().parent.parent
SNRS_DB = (0.0, 6.0, 12.0, 18.0, 24.0)
STREAMING_MODEL = "starter-en"
LEAST_S = 0.5
"""Shorter prompts are beeps and silence."""
DIGITS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
VOICES_IN_BABBLE = 6


def measure_speech(options: argparse.Namespace) -> dict[str, Any]:
    """All of it."""
    figures: dict[str, Any] = {"every": options.every, "words": _words(options), "numbers": _numbers()}
    if "EDGE_ASR_DATA" not in os.environ:
        print("EDGE_ASR_DATA is not set: no commands are measured", file=sys.stderr)
        return figures
    return figures | {"commands": _commands(options), "false_commands": _false_commands(options)}


# Words.


def _words(options: argparse.Namespace) -> dict[str, Any]:
    prompts = [prompt for prompt in load_prompts(options.audio) if prompt.duration_s > LEAST_S][:: options.every]
    spoken = {(DICTATION_MODEL, "prompts"): [Recording(each.name, each.path, each.text) for each in prompts]}
    if "EDGE_ASR_DATA" in os.environ:
        paths = sorted((data() / "digits").glob("?_*_*.wav"))[:: options.every]
        spoken[STREAMING_MODEL, "digits"] = [Recording(path.name, path, DIGITS[int(path.name[0])]) for path in paths]
    return {f"{source}, {model}": _errors(model, recordings) for (model, source), recordings in spoken.items()}


def _errors(model: str, recordings: Sequence[Recording]) -> dict[str, Any]:
    heard = hear_all(load_tier(model, ""), [load_clip(recording) for recording in recordings])
    references = [recording.reference for recording in recordings]
    return {
        "recordings": len(recordings),
        "wer": score(references, heard.texts).error_rate,
        "cer": score(_spelled(references), _spelled(heard.texts)).error_rate,
    }


def _spelled(texts: Sequence[str]) -> list[str]:
    """Letters as words of their own, so that errors are counted in letters."""
    return [" ".join(letter for letter in text.lower() if letter.isalnum()) for text in texts]


# Commands.


def _commands(options: argparse.Namespace) -> dict[str, Any]:
    ear = Ear(load_decoder(), grammar(data() / "barista" / "grammar.yaml"))
    clips = list(orders([], 1))[:: options.every]
    figures = {"clean": _understood(ear, clips)}
    for name, make in noises(options.audio).items():
        figures[name] = {
            f"{snr_db:g} dB": _understood(ear, [_in_noise(clip, make, snr_db, n) for n, clip in enumerate(clips)])
            for snr_db in SNRS_DB
        }
        print(name, figures[name], file=sys.stderr, flush=True)
    return {"orders": len(clips), "intent_and_every_slot_right": figures}


def _understood(ear: Ear, clips: Sequence[Clip]) -> float:
    rows = [ear.row(clip, "orders") for clip in clips]
    return sum(row["is_right"] and score_of(row) > CommandSettings().min_score for row in rows) / len(rows)


def noises(prompts: Path) -> Mapping[str, Callable[[int, int], Float32Array]]:
    """Makes of so many samples, from a seed."""
    voices = [samples(prompt.path) for prompt in load_prompts(prompts) if prompt.duration_s > 2 * LEAST_S]

    def babble(count: int, seed: int) -> Float32Array:
        chosen = np.random.default_rng(seed).choice(len(voices), VOICES_IN_BABBLE, replace=False)
        return np.sum([np.resize(voices[voice], count) for voice in chosen], axis=0, dtype=np.float32)

    made: dict[str, Callable[[int, int], Float32Array]] = {"babble": babble}
    for name, exponent in (("white", 0.0), ("pink", 0.5), ("brown", 1.0)):
        made[name] = _coloured(exponent)
    return made


def _coloured(exponent: float) -> Callable[[int, int], Float32Array]:
    def make(count: int, seed: int) -> Float32Array:
        spectrum = np.fft.rfft(np.random.default_rng(seed).standard_normal(count))
        return np.fft.irfft(spectrum / np.maximum(1, np.arange(len(spectrum))) ** exponent, count).astype(np.float32)

    return make


def _in_noise(clip: Clip, make: Callable[[int, int], Float32Array], snr_db: float, seed: int) -> Clip:
    noise = make(len(clip.samples), seed)
    gain = np.sqrt(np.mean(clip.samples**2) / np.mean(noise**2)) * 10 ** (-snr_db / 20)
    mixed = np.clip(clip.samples + gain * noise, -1, 1).astype(np.float32)
    return Clip(clip.source, clip.name, mixed, clip.intent, clip.slots, clip.text)


# What is no command.


def _false_commands(options: argparse.Namespace) -> dict[str, Any]:
    decoder = load_decoder()
    ears = {
        "orders": Ear(decoder, grammar(data() / "barista" / "grammar.yaml")),
        "home": Ear(decoder, smart_home()),
    }
    rows = [ears[name].row(clip, name) for clip, name in _held_against(ears, options.every)]
    false = [row for row in rows if score_of(row) > CommandSettings().min_score]
    bound = POISSON_95.get(len(false), len(false) + 2 * len(false) ** 0.5 + 2)
    return {
        "recordings": len(rows),
        "hours": hours(rows),
        "false": len(false),
        "per_hour_95_upper": bound / hours(rows),
        "examples": [f"{row['open_text']} -> {row['text']}" for row in false[:5]],
    }


def _held_against(ears: Mapping[str, Ear], every: int) -> Iterator[tuple[Clip, str]]:
    for clip, names in others(None, every):
        yield from ((clip, name) for name in names if not ears[name].is_command(clip.text))


# Numbers.


def _numbers() -> dict[str, Any]:
    sys.path.insert(0, str(ROOT))
    from tests.pipeline.test_itn import CHINESE, ENGLISH, JAPANESE

    tables = {"en": ENGLISH, "zh": CHINESE, "ja": JAPANESE}
    cases = [(language, *case) for language, table in tables.items() for case in table.items()]
    writers = {language: InverseNormaliser([language]) for language, _, _ in cases}
    wrong = [said for language, said, written in cases if writers[language].write(said) != written]
    return {"cases": len(cases), "right": len(cases) - len(wrong), "wrong": wrong}
