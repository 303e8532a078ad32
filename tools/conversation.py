"""One side of a conversation, made from recordings: turns and the pauses in which the other side speaks.

::

    python tools/conversation.py OUT [--audio DIR|MANIFEST] [--conversations 8] [--seconds 60] [--snr 15] [--seed 0]

writes 16 kHz WAV files and ``conversations.jsonl``, a manifest with the words that are said, for ``edge-asr bench
--audio`` and ``tools/peers --audio``. The turns take ``--share`` (0.4) of the time, pauses last 3 to 10 seconds. They
hold the noise of a quiet room, or with ``--snr`` pink noise over everything, so much below the speech.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import wave
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from edge_asr.audio import Float32Array
from edge_asr.errors import InputError
from edge_asr.sources.resample import StreamResampler
from edge_asr.workload import ClipAudio, bundled_clips, load_clip, read_clips

RATE_HZ = 16_000
SHORTEST_PAUSE_S, LONGEST_PAUSE_S = 3.0, 10.0
TURNS_S = 2.0, 7.0
"""A turn goes on until so much was spoken, drawn between the two."""
BREATHS_S = 0.2, 0.5
"""Between two recordings of one turn."""
ROOM_DBFS = -66.0
"""Noise of a quiet room, in the pauses and under the speech."""
SHARE = 0.4


@dataclass(frozen=True, slots=True)
class Utterance:
    """A recording within the conversation."""

    name: str
    text: str
    start_s: float
    """Where its recording begins."""
    end_s: float


@dataclass(frozen=True, slots=True, eq=False)
class Conversation:
    """One side of it."""

    samples: Float32Array
    """16 kHz, mono, shape (n,)."""
    utterances: tuple[Utterance, ...]
    turns_s: float
    """Seconds in which this side has the word, breaths included."""

    @property
    def audio_s(self) -> float:
        """Length in seconds."""
        return len(self.samples) / RATE_HZ

    @property
    def share(self) -> float:
        """Part of the time that the turns take."""
        return self.turns_s / self.audio_s


@dataclass(frozen=True, slots=True, eq=False)
class Spoken:
    """A recording, ready to be put together with others."""

    name: str
    text: str
    samples: Float32Array
    speech_s: float
    """Without the silence at its ends."""

    @property
    def audio_s(self) -> float:
        """Length in seconds."""
        return len(self.samples) / RATE_HZ


def compose(
    recordings: Sequence[Spoken],
    seconds: float,
    seed: int,
    *,
    share: float = SHARE,
    snr_db: float | None = None,
    first: int = 0,
) -> Conversation:
    """Put recordings together until the conversation has its length; the last pause is heard to its end.

    Args:
        recordings: Taken in order from ``first`` on, as often as it takes.
        seconds: No turn begins later.
        seed: Of pauses, turns and noise.
        share: Of the time that turns take; reached as far as the pauses' bounds allow.
        snr_db: Pink noise so much below the speech; ``None``: a quiet room.
        first: Which recording comes first.
    """
    draw = random.Random(seed)  # noqa: S311  not a secret
    parts: list[Float32Array] = []
    utterances: list[Utterance] = []
    turns_s = position = 0.0
    number = first

    def add(samples: Float32Array) -> None:
        nonlocal position
        parts.append(samples)
        position += len(samples) / RATE_HZ

    add(_silence(draw.uniform(0.5, 2.0)))
    while position < seconds:
        until_s = turns_s + draw.uniform(*TURNS_S)
        while turns_s < until_s:
            recording = recordings[number % len(recordings)]
            number += 1
            utterances.append(Utterance(recording.name, recording.text, position, position + recording.audio_s))
            add(recording.samples)
            turns_s += recording.speech_s
            if turns_s < until_s:
                breath_s = draw.uniform(*BREATHS_S)
                add(_silence(breath_s))
                turns_s += breath_s + recording.audio_s - recording.speech_s
        wanted_s = turns_s / share - position + draw.uniform(-1.5, 1.5)
        add(_silence(min(LONGEST_PAUSE_S, max(SHORTEST_PAUSE_S, wanted_s))))
    return Conversation(_with_noise(np.concatenate(parts), snr_db, seed), tuple(utterances), turns_s)


def pink_noise(count: int, seed: int) -> Float32Array:
    """Noise whose power falls by 3 dB an octave from 50 Hz on, of level 1 (rms), shape (count,)."""
    draw = np.random.default_rng(seed)
    spectrum = np.fft.rfft(draw.standard_normal(count))
    spectrum /= np.sqrt(np.maximum(np.fft.rfftfreq(count, 1 / RATE_HZ), 50.0))
    noise = np.fft.irfft(spectrum, count)
    return (noise / max(float(noise.std()), 1e-12)).astype(np.float32)


def spoken(clip: ClipAudio) -> Spoken:
    """A recording at 16 kHz."""
    samples = clip.samples.astype(np.float32) / np.float32(32768)
    if clip.sample_rate_hz != RATE_HZ:
        resampler = StreamResampler(clip.sample_rate_hz, RATE_HZ)
        samples = np.concatenate((resampler.process(samples), resampler.flush()))
    return Spoken(clip.clip.name, clip.clip.reference, samples, clip.end_s - clip.onset_s)


def _with_noise(samples: Float32Array, snr_db: float | None, seed: int) -> Float32Array:
    level = 10 ** (ROOM_DBFS / 20)
    if snr_db is not None:
        power = np.square(samples)
        level = float(np.sqrt(power[power > 0.001 * power.max()].mean())) * 10 ** (-snr_db / 20)
    noisy: Float32Array = np.clip(samples + np.float32(level) * pink_noise(len(samples), seed), -1, 1)
    return noisy


def _silence(seconds: float) -> Float32Array:
    return np.zeros(round(seconds * RATE_HZ), np.float32)


def _conversations(options: argparse.Namespace) -> Iterator[Conversation]:
    clips = read_clips(options.audio) if options.audio else bundled_clips()
    recordings = [spoken(load_clip(clip)) for clip in clips]
    random.Random(options.seed).shuffle(recordings)  # noqa: S311  not a secret
    for number in range(options.conversations):
        first = number * len(recordings) // options.conversations
        yield compose(
            recordings, options.seconds, options.seed + number, share=options.share, snr_db=options.snr, first=first
        )


def _write(path: Path, samples: Float32Array) -> None:
    pcm: npt.NDArray[np.int16] = np.round(samples * 32767).astype("<i2")
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(RATE_HZ)
        file.writeframes(pcm.tobytes())


def main() -> None:
    """Write the conversations and their manifest."""
    parser = argparse.ArgumentParser(prog="tools/conversation.py", description="Make conversational load.")
    parser.add_argument("out", type=Path, metavar="OUT", help="folder to write to")
    parser.add_argument("--audio", type=Path, metavar="DIR|MANIFEST", help="recordings; the bundled ones by default")
    parser.add_argument("--conversations", type=int, default=8, metavar="N", help="how many (8)")
    parser.add_argument("--seconds", type=float, default=60.0, help="of each (60)")
    parser.add_argument("--share", type=float, default=SHARE, help="part of the time that turns take (0.4)")
    parser.add_argument("--snr", type=float, metavar="DB", help="pink noise so much below the speech")
    parser.add_argument("--seed", type=int, default=0, help="of turns, pauses and noise (0)")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    try:
        with (options.out / "conversations.jsonl").open("w", encoding="utf-8") as manifest:
            for number, made in enumerate(_conversations(options)):
                name = f"conversation-{number:02}.wav"
                _write(options.out / name, made.samples)
                text = " ".join(utterance.text for utterance in made.utterances if utterance.text)
                manifest.write(json.dumps({"audio": name, "text": text, "vocabulary": "commands"}) + "\n")
                print(f"{name}: {made.audio_s:.1f} s, {len(made.utterances)} recordings, {made.share:.0%} in turns")
    except InputError as error:
        sys.exit(f"tools/conversation.py: {error}")


if __name__ == "__main__":
    main()
