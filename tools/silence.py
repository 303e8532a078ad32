"""What the silence gate saves and whether it loses words: conversations through the very sessions of the daemon.

Every conversation is decoded twice, with the gate and without, each recording in it scored by the finals that fall into
its time, which would also show a time that is wrong. Errors are paired recording by recording.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from conversation import RATE_HZ, Conversation, Spoken, compose, spoken
from prompts import load_prompts

from edge_asr.audio import AudioChunk
from edge_asr.cli.stores import open_store
from edge_asr.clock import MonotonicClock
from edge_asr.events import Final
from edge_asr.requests import SessionOptions
from edge_asr.scoring import score
from edge_asr.sessions.decode_loop import DecodeLoop
from edge_asr.sessions.understanding import Understanding
from edge_asr.settings import EndpointSettings, GateSettings, SchedulerSettings, Settings
from edge_asr.statistics import Block, PairedChange, paired_change
from edge_asr.workers.configuration import pack
from edge_asr.workers.loaded_model import LoadedModel
from edge_asr.workers.loading import load_model
from edge_asr.workload import Clip, bundled_clips, load_clip

CONVERSATION_S = 60.0
PIECE_S = 0.1
SLACK_S = 0.4
"""A word may begin so long before its recording does, by the model's own reckoning."""
NOISES_DB: tuple[float | None, ...] = (None, 15.0)
DIGITS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")


def measure_gate(options: argparse.Namespace) -> dict[str, Any]:
    """All recordings, in a quiet room and with noise."""
    figures: dict[str, Any] = {}
    model = open_store().resolve(options.model)
    loaded = load_model(pack(model.directory, Settings(), None))
    for kind, recordings in _recordings(options).items():
        for snr_db in NOISES_DB:
            conversations = _conversations(recordings, snr_db)
            runs = {
                enabled: _hear_all(loaded, conversations, GateSettings(enabled=enabled)) for enabled in (False, True)
            }
            name = f"{kind}, {'quiet room' if snr_db is None else f'{snr_db:g} dB'}"
            figures[name] = _compared(conversations, runs[False], runs[True])
            print(name, figures[name], flush=True)
    return {"model": options.model, "gate": asdict(GateSettings()), "figures": figures}


def _recordings(options: argparse.Namespace) -> Mapping[str, list[Spoken]]:
    found = {"bundled commands": [spoken(load_clip(clip)) for clip in bundled_clips() if clip.vocabulary != "open"]}
    if options.digits:
        paths = sorted(options.digits.glob("?_*_*.wav"))[:: options.every]
        clips = [Clip(path.name, path, DIGITS[int(path.name[0])]) for path in paths]
        found["digits"] = [spoken(load_clip(clip)) for clip in clips]
    prompts = load_prompts(options.audio)[:: options.every]
    found["prompts"] = [spoken(load_clip(Clip(prompt.name, prompt.path, prompt.text))) for prompt in prompts]
    return found


def _conversations(recordings: Sequence[Spoken], snr_db: float | None) -> list[Conversation]:
    """Each recording is in one of them, at least once."""
    made: list[Conversation] = []
    heard = 0
    while heard < len(recordings):
        made.append(compose(recordings, CONVERSATION_S, len(made), snr_db=snr_db, first=heard))
        heard += len(made[-1].utterances)
    return made


class _Heard:
    """What came of all conversations."""

    def __init__(self) -> None:
        self.blocks: list[Block] = []
        self.texts: list[str] = []
        self.audio_s = self.skipped_s = self.cpu_s = 0.0


def _hear_all(loaded: LoadedModel, conversations: Sequence[Conversation], gate: GateSettings) -> _Heard:
    heard = _Heard()
    for number, conversation in enumerate(conversations):
        loop = DecodeLoop(
            loaded.engine,
            EndpointSettings(),
            SchedulerSettings(),
            MonotonicClock(),
            Understanding(loaded.text_case),
            gate=gate,
        )
        began_s = time.process_time()
        finals = _finals(loop, conversation)
        heard.cpu_s += time.process_time() - began_s
        heard.audio_s += conversation.audio_s
        heard.skipped_s += loop.figures().skipped_s
        for utterance, text in zip(conversation.utterances, _texts(conversation, finals), strict=True):
            report = score([utterance.text], [text])
            key = f"{number} {utterance.start_s:.2f}"
            heard.blocks.append(Block(0, key, report.errors, report.reference_units))
            heard.texts.append(text)
    return heard


def _finals(loop: DecodeLoop, conversation: Conversation) -> list[Final]:
    step = round(PIECE_S * RATE_HZ)
    finals: list[Final] = []
    loop.open("s", SessionOptions(sample_rate_hz=RATE_HZ))
    for start in range(0, len(conversation.samples), step):
        loop.feed("s", AudioChunk(conversation.samples[start : start + step], RATE_HZ, start, 1))
        while loop.step():
            pass
        finals += [event for event in loop.take_events() if isinstance(event, Final)]
    loop.finish("s")
    while loop.step():
        pass
    return finals + [event for event in loop.take_events() if isinstance(event, Final)]


def _texts(conversation: Conversation, finals: Sequence[Final]) -> list[str]:
    """The words that begin within each recording's time, up to the next recording."""
    starts = [utterance.start_s - SLACK_S for utterance in conversation.utterances]
    limits = [*starts[1:], conversation.audio_s + 1]
    words = [word for final in finals for word in final.words]
    return [
        " ".join(word.text for word in words if start <= word.start_s < limit)
        for start, limit in zip(starts, limits, strict=True)
    ]


def _compared(conversations: Sequence[Conversation], without: _Heard, gated: _Heard) -> dict[str, Any]:
    change = paired_change(without.blocks, gated.blocks)
    assert isinstance(change, PairedChange)
    same = sum(ours == theirs for ours, theirs in zip(gated.texts, without.texts, strict=True))
    return {
        "recordings": len(gated.texts),
        "same_text": same,
        "audio_s": round(without.audio_s, 1),
        "turns_share": sum(each.turns_s for each in conversations) / without.audio_s,
        "skipped_share": gated.skipped_s / gated.audio_s,
        "cpu_ratio": gated.cpu_s / without.cpu_s,
        "wer_without": change.before,
        "wer_gated": change.after,
        "difference": change.difference,
        "difference_interval": [change.difference_interval.low, change.difference_interval.high],
        "verdict": change.verdict,
    }
