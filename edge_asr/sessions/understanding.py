"""What the sessions of a loop make of what its engine hears: all that a model was loaded with beside the engine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from edge_asr.commands.hotwords import HotwordList
from edge_asr.commands.listening import OPEN_SPEECH, Listening
from edge_asr.pipeline.confidence import AS_SAID, Calibration
from edge_asr.pipeline.writing import Writing
from edge_asr.requests import SessionOptions
from edge_asr.sessions.second_hearing import SecondHearing
from edge_asr.sessions.speaker_hearing import SpeakerHearing


def _to_open_speech(_commands: str | None) -> Listening:
    """Nobody brought what commands are understood with."""
    return OPEN_SPEECH


def _expecting_nothing(_phrases: Sequence[str], _besides: Sequence[str]) -> HotwordList:
    """Nobody brought what hotwords are spelled with."""
    return HotwordList()


def _as_heard(_options: SessionOptions) -> Writing:
    """Nobody brought what texts are written with."""
    return Writing()


@dataclass(frozen=True, slots=True)
class Understanding:
    """Of all sessions of one model; by itself the text as the engine gives it."""

    text_case: Literal["as_is", "lower"] = "as_is"
    """Of the model's text."""
    calibration: Calibration = AS_SAID
    """Of the confidence that it gives words."""
    listen: Callable[[str | None], Listening] = _to_open_speech
    """What a session listens for that asks for these commands (``SessionOptions.commands``)."""
    expect: Callable[[Sequence[str], Sequence[str]], HotwordList] = _expecting_nothing
    """What the engine is told to expect in a session with these hotwords (``SessionOptions.hotwords``) that listens for
    these words."""
    write: Callable[[SessionOptions], Writing] = _as_heard
    """What the texts of a session with these options go through."""
    second_hearing: SecondHearing | None = None
    """What hears each segment again for its final."""
    speaker_hearing: SpeakerHearing | None = None
    """What says whose voice each segment is."""


AS_THE_ENGINE_SAYS = Understanding()
