"""How well spoken commands are understood, and how rarely anything else is taken for one.

::

    EDGE_ASR_DATA=DATA python tools/commands_accuracy.py orders                 # real orders of coffee, clean
    EDGE_ASR_DATA=DATA python tools/commands_accuracy.py orders --snr 6 12 18 24 --every 4
    python tools/commands_accuracy.py spoken HOME --commands FILE... [--more FILE]   # wav files and labels.json
    EDGE_ASR_DATA=DATA python tools/commands_accuracy.py others --rows others.jsonl [--pcm FOLDER]
    EDGE_ASR_DATA=DATA python tools/commands_accuracy.py noise --minutes 20 --rows noise.jsonl
    python tools/commands_accuracy.py curve orders.jsonl others.jsonl           # what each threshold costs

The first two count commands whose intent and every slot are right. Recordings go through the model in whole, without a
voice activity detector; ``rtf`` is processor time by their length. With ``--more`` each recording is also heard under a
larger set, the two taking turns, so that a machine that slows down slows both. ``others`` decodes speech that is no
command under two grammars: telephone prompts, digits, orders of coffee against a smart home, and what tools/starter has
synthesised.
``noise`` lets noises of several colours and levels through the voice activity detector, as the daemon does.
``curve`` fits the weights of ``edge_asr.commands.reject`` to such rows and counts false commands per hour.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import soundfile
import soxr
from home_sentences import command_files, english_sentences, without_wildcards
from prompts import load_prompts

from edge_asr.audio import Float32Array
from edge_asr.commands.constraint import NetworkConstraint
from edge_asr.commands.files import read_command_files
from edge_asr.commands.interpretation import interpret
from edge_asr.commands.reject import Evidence, Weights, evidence_of, score
from edge_asr.commands.templates import CommandSet, read_templates
from edge_asr.commands.token_trie import build_trie
from edge_asr.engines.base import ConstrainedPath, StreamOptions
from edge_asr.engines.base64_vocabulary import read_vocabulary
from edge_asr.engines.ort_constrained import ConstrainedDecoder, load_constrained_decoder
from edge_asr.engines.registry import load_engine
from edge_asr.manifest import read_manifest
from edge_asr.settings import EngineSettings
from edge_asr.store.locations import store_locations
from edge_asr.store.store import ModelStore

RATE_HZ = 16_000
THRESHOLDS = (0.1, 0.3, 0.5, 0.7, 0.9, 0.97, 0.99)
POISSON_95 = {0: 3.0, 1: 4.74, 2: 6.3, 3: 7.75, 4: 9.15, 5: 10.51}
"""Upper bound of the expectation, by the count that was seen."""


@dataclass(frozen=True, slots=True)
class Clip:
    """A recording, and the command in it where there is one."""

    source: str
    name: str
    samples: Float32Array
    intent: str = ""
    slots: dict[str, Any] | None = None
    text: str = ""
    """What is said, where that is known."""


class Ear:
    """Moonshine under one grammar."""

    def __init__(self, decoder: ConstrainedDecoder, commands: CommandSet) -> None:
        self._decoder = decoder
        self._network = commands.network
        self._constraint = NetworkConstraint(commands.network, build_trie(decoder.vocabulary))

    def is_command(self, text: str) -> bool:
        """Whether a transcript is a sentence of the grammar."""
        return bool(text) and interpret(self._network, text) is not None

    def row(self, clip: Clip, grammar: str) -> dict[str, Any]:
        """What was made of a recording."""
        started_s = time.process_time()
        heard = self._decoder.decode(clip.samples, self._constraint)
        took_s = time.process_time() - started_s
        path = heard.path
        command = interpret(self._network, path.text) if path else None
        is_right = command is not None and (command.intent, command.slots) == (clip.intent, clip.slots)
        return {
            "source": clip.source,
            "clip": clip.name,
            "grammar": grammar,
            "duration_s": len(clip.samples) / RATE_HZ,
            "took_s": took_s,
            "is_command": bool(clip.intent),
            "is_right": is_right,
            "text": path.text if path else "",
            "open_text": heard.text,
            "evidence": asdict(evidence_of(path)) if path else None,
        }


def main() -> None:
    options = arguments()
    if options.action == "curve":
        print_curve([json.loads(line) for path in options.rows for line in path.open(encoding="utf-8")])
        return
    if options.action == "noise":
        listen_to_noise(options.minutes, options.rows)
        return
    decoder = load_decoder()
    if options.action == "orders":
        ears = {"orders": Ear(decoder, grammar(data() / "barista" / "grammar.yaml"))}
        clips: Iterable[tuple[Clip, list[str]]] = ((clip, ["orders"]) for clip in orders(options.snr, options.every))
    elif options.action == "spoken":
        ears = {"spoken": Ear(decoder, grammar(*options.commands))}
        if options.more:
            ears["spoken, more"] = Ear(decoder, grammar(*options.commands, options.more))
        clips = ((clip, list(ears)[:: -1 if number % 2 else 1]) for number, clip in enumerate(spoken(options.folder)))
    else:
        ears = {
            "orders": Ear(decoder, grammar(data() / "barista" / "grammar.yaml")),
            "home": Ear(decoder, smart_home()),
        }
        clips = others(options.pcm, options.every)
    rows = []
    for clip, names in clips:
        for name in names:
            if options.action == "others" and ears[name].is_command(clip.text):
                continue
            rows.append(ears[name].row(clip, name))
            write_row(options.rows, rows[-1])
    if options.action != "others":
        print_accuracy(rows)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    actions = parser.add_subparsers(dest="action", required=True)
    heard = actions.add_parser("orders")
    heard.add_argument("--snr", type=float, nargs="*", default=[], help="dB above pink noise; clean without")
    said = actions.add_parser("spoken")
    said.add_argument("folder", type=Path)
    said.add_argument("--commands", type=Path, nargs="+", required=True, metavar="FILE")
    said.add_argument("--more", type=Path, metavar="FILE", help="what a larger set has besides, heard in turns")
    negatives = actions.add_parser("others")
    negatives.add_argument("--pcm", type=Path, help="folder of tools/starter/make_data.py")
    for action in (heard, said, negatives):
        action.add_argument("--rows", type=Path, metavar="FILE", help="write a line of JSON for each recording")
        action.add_argument("--every", type=int, default=1, metavar="N", help="only every Nth recording")
    silence = actions.add_parser("noise")
    silence.add_argument("--minutes", type=float, default=10, help="of each noise")
    silence.add_argument("--rows", type=Path, metavar="FILE")
    actions.add_parser("curve").add_argument("rows", type=Path, nargs="+")
    return parser.parse_args()


def write_row(path: Path | None, row: dict[str, Any]) -> None:
    if path is not None:
        with path.open("a", encoding="utf-8") as rows:
            rows.write(json.dumps(row) + "\n")


# Recordings.


def data() -> Path:
    return Path(os.environ.get("EDGE_ASR_DATA") or sys.exit("set EDGE_ASR_DATA to the folder of barista/ and digits/"))


def load_decoder() -> ConstrainedDecoder:
    model = ModelStore(store_locations(os.environ)).resolve("moonshine-tiny-en")
    return load_constrained_decoder(model.directory, read_manifest(model.directory / "manifest.toml"), EngineSettings())


def grammar(*paths: Path) -> CommandSet:
    return read_templates({name: text for path in paths for name, text in read_command_files(path).items()})


def smart_home() -> CommandSet:
    return read_templates(command_files(without_wildcards(english_sentences())))


def samples(path: Path) -> Float32Array:
    sound, rate_hz = soundfile.read(path, dtype="float32")
    resampled: Float32Array = sound if rate_hz == RATE_HZ else soxr.resample(sound, rate_hz, RATE_HZ)
    return resampled


def orders(snrs: list[float], every: int) -> Iterator[Clip]:
    """Every order clean, or every Nth at each ratio, another part of them each time."""
    labels = json.loads((data() / "barista" / "labels.json").read_text(encoding="utf-8"))
    names = sorted(labels)
    for turn, snr_db in enumerate(snrs or [None]):
        for number, name in list(enumerate(names))[turn % every :: every]:
            heard = samples(data() / "barista" / name)
            slots = {slot: " ".join(value.split()) for slot, value in labels[name]["slots"].items()}
            sound = heard if snr_db is None else in_noise(heard, snr_db, number)
            yield Clip("clean" if snr_db is None else f"{snr_db:g} dB", name, sound, labels[name]["intent"], slots)


def in_noise(heard: Float32Array, snr_db: float, seed: int) -> Float32Array:
    """Pink noise, so far below the mean power of the recording."""
    spectrum = np.fft.rfft(np.random.default_rng(seed).standard_normal(len(heard)))
    noise = np.fft.irfft(spectrum / np.sqrt(np.maximum(1, np.arange(len(spectrum)))), len(heard))
    gain = np.sqrt(np.mean(heard**2) / np.mean(noise**2)) * 10 ** (-snr_db / 20)
    mixed: Float32Array = np.clip(heard + gain * noise, -1, 1).astype(np.float32)
    return mixed


def spoken(folder: Path) -> Iterator[Clip]:
    for name, label in json.loads((folder / "labels.json").read_text(encoding="utf-8")).items():
        yield Clip(folder.name, name, samples(folder / name), label["intent"], label["slots"])


def others(pcm: Path | None, every: int) -> Iterator[tuple[Clip, list[str]]]:
    """Speech that is no command, with the grammars it is held against."""
    for prompt in load_prompts(Path(tempfile.gettempdir()) / "edge-asr-prompts")[::every]:
        yield Clip("prompts", prompt.path.name, samples(prompt.path), text=prompt.text), ["orders", "home"]
    for path in sorted((data() / "digits").glob("*.wav"))[::every]:
        yield Clip("digits", path.name, samples(path)), ["orders", "home"]
    for path in sorted((data() / "barista").glob("*.flac"))[::every]:
        yield Clip("orders", path.name, samples(path)), ["home"]
    for index in sorted(pcm.glob("*.jsonl"))[::every] if pcm else ():
        sound = np.fromfile(index.with_suffix(".pcm"), np.int16)
        for line in index.read_text(encoding="utf-8").splitlines():
            entry = json.loads(line)
            piece = sound[entry["offset"] : entry["offset"] + entry["samples"]].astype(np.float32) / 32768
            yield Clip("synthetic", entry["voice"], piece, text=entry["text"]), ["orders", "home"]


def listen_to_noise(minutes: float, rows: Path | None) -> None:
    """One row for each noise, with its duration, and one for each stretch of it that was taken for speech."""
    store = ModelStore(store_locations(os.environ))
    model, vad = store.resolve("moonshine-tiny-en"), store.resolve("silero-vad")
    engine = load_engine(
        model.directory,
        model.manifest,
        EngineSettings(),
        vad.directory / vad.manifest.files["model"].path,
        expects_commands=True,
    )
    commands = grammar(data() / "barista" / "grammar.yaml")
    vocabulary = read_vocabulary(model.directory / model.manifest.files["tokens"].path, model.manifest.name)
    constraint = NetworkConstraint(commands.network, build_trie(vocabulary))
    for name, noise in noises(minutes):
        stream = engine.open_stream(StreamOptions(partials=False, constraint=constraint))
        write_row(rows, noise_row(name, len(noise) / RATE_HZ, None))
        for begin in range(0, len(noise), RATE_HZ):
            stream.accept(noise[begin : begin + RATE_HZ])
            while stream.is_ready():
                engine.decode([stream])
                path = stream.hypothesis().path
                if path is not None:
                    write_row(rows, noise_row(name, 0.0, path))
                    stream.reset()
        stream.close()


def noises(minutes: float) -> Iterator[tuple[str, Float32Array]]:
    """Noise whose power falls with the frequency by this exponent, at this level."""
    count = round(minutes * 60 * RATE_HZ)
    for seed, (exponent, level_dbfs) in enumerate([(0, -30), (0, -50), (1, -20), (1, -40), (2, -20), (2, -40)]):
        spectrum = np.fft.rfft(np.random.default_rng(seed).standard_normal(count))
        shaped = np.fft.irfft(spectrum / np.maximum(1, np.arange(len(spectrum))) ** (exponent / 2), count)
        level = 10 ** (level_dbfs / 20) / np.sqrt(np.mean(shaped**2))
        yield f"1/f^{exponent} {level_dbfs} dBFS", np.clip(level * shaped, -1, 1).astype(np.float32)
    time_s = np.arange(count) / RATE_HZ
    hum = sum(np.sin(2 * np.pi * 50 * harmonic * time_s) / harmonic for harmonic in range(1, 6))
    yield "hum", (0.05 * hum).astype(np.float32)
    beeps = np.sin(2 * np.pi * 1000 * time_s) * (time_s % 3 < 0.4)
    yield "beeps", (0.2 * beeps).astype(np.float32)


def noise_row(name: str, duration_s: float, path: ConstrainedPath | None) -> dict[str, Any]:
    return {
        "source": "noise",
        "clip": name,
        "duration_s": duration_s,
        "is_command": False,
        "is_right": False,
        "text": path.text if path else "",
        "evidence": asdict(evidence_of(path)) if path else None,
    }


# Figures.


def print_accuracy(rows: list[dict[str, Any]]) -> None:
    for source, name in sorted({(row["source"], row["grammar"]) for row in rows}):
        own = [row for row in rows if (row["source"], row["grammar"]) == (source, name)]
        right = sum(row["is_right"] for row in own)
        accepted = sum(row["is_right"] and score_of(row) >= 0.5 for row in own)
        duration_s = sum(row["duration_s"] for row in own)
        print(
            json.dumps(
                {
                    "source": source,
                    "grammar": name,
                    "commands": len(own),
                    "right": round(100 * right / len(own), 2),
                    "right_and_accepted": round(100 * accepted / len(own), 2),
                    "rtf": round(sum(row["took_s"] for row in own) / duration_s, 4),
                }
            )
        )


def score_of(row: dict[str, Any], weights: Weights | None = None) -> float:
    return score(Evidence(**row["evidence"]), weights) if row["evidence"] else 0.0


def print_curve(rows: list[dict[str, Any]]) -> None:
    said = [row for row in rows if row["is_command"] and row["is_right"]]
    other = [row for row in rows if not row["is_command"]]
    print("fitted:", fit(said, other))
    for source in dict.fromkeys(row["source"] for row in other):
        own = [row for row in other if row["source"] == source]
        print(f"{source}: {len(own)} recordings, {hours(own):.2f} h")
    print(f"{'threshold':>9} {'commands kept %':>15} {'false':>6} {'hours':>6} {'per hour':>9} {'95 % bound':>10}")
    for threshold in THRESHOLDS:
        kept = 100 * sum(score_of(row) >= threshold for row in said) / max(1, len(said))
        false = sum(score_of(row) >= threshold for row in other)
        bound = POISSON_95.get(false, false + 2 * false**0.5 + 2)
        total = hours(other)
        print(f"{threshold:9} {kept:15.2f} {false:6} {total:6.2f} {false / total:9.2f} {bound / total:10.2f}")


def hours(rows: list[dict[str, Any]]) -> float:
    return float(sum(row["duration_s"] for row in rows)) / 3600


def fit(said: list[dict[str, Any]], other: list[dict[str, Any]]) -> Weights:
    """Logistic regression by Newton's method; both kinds count alike, and weights are kept small."""
    kinds = [(row, 1.0) for row in said] + [(row, 0.0) for row in other if row["evidence"]]
    evidence = [Evidence(**row["evidence"]) for row, _ in kinds]
    features = np.array([[1.0, e.gap, e.surprise / max(1, e.tokens), np.log1p(e.tokens)] for e in evidence])
    wanted = np.array([kind for _, kind in kinds])
    shares = np.where(wanted == 1, 0.5 / wanted.sum(), 0.5 / (1 - wanted).sum())
    weights = np.zeros(4)
    keep = 1e-3 * np.diag([0.0, 1, 1, 1])
    for _ in range(50):
        probability = 1 / (1 + np.exp(-np.clip(features @ weights, -30, 30)))
        slope = features.T @ (shares * (wanted - probability)) - keep @ weights
        curvature = (features * (shares * probability * (1 - probability))[:, None]).T @ features + keep
        weights += np.linalg.solve(curvature + 1e-9 * np.eye(4), slope)
    return Weights(*(round(float(weight), 2) for weight in weights))


if __name__ == "__main__":
    main()
