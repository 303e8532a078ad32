"""What happens to every sample before anything is recognised, at the rate the client sends: the robust front.

Samples that are no sound become silence, a constant offset is taken out, and what is beyond full scale is turned down.
Audio that was cut off before it came here, or that is not what its sender says, cannot be mended: it is reported.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from edge_asr.audio import Float32Array
from edge_asr.pipeline.clipping import WINDOW_S, ClippingWatch
from edge_asr.pipeline.finite import replace_non_finite
from edge_asr.pipeline.gain import GainGuard
from edge_asr.pipeline.layout_watch import LayoutWatch
from edge_asr.pipeline.offset import OffsetRemover
from edge_asr.requests import FrontMark

FindingCode = Literal["samples_replaced", "audio_clipped", "format_suspicious"]

CLIPPING_EVERY_S = 60.0
"""Audio between two findings of clipping."""


@dataclass(frozen=True, slots=True)
class Finding:
    """Something about the audio that its sender should know."""

    code: FindingCode
    message: str
    count: int = 0
    """Samples concerned, as the client counts them."""


SUSPICIONS = {
    "two_channels": "the audio seems to have two channels where one is declared: words will be wrong",
    "noise": "the audio is noise at full loudness: its encoding, or its first byte, is not as declared",
}


class Front:
    """Follows one stream of audio.

    Args:
        sample_rate_hz: As the client sends it.
        channels: As declared; only one channel may be two in truth.
        start_s: Where it begins here, when another one heard it up to there.
        mark: What that one went by there; ``None`` where nobody knows.
    """

    def __init__(
        self, sample_rate_hz: int, channels: int = 1, start_s: float = 0.0, mark: FrontMark | None = None
    ) -> None:
        self._rate_hz = sample_rate_hz
        start = round(start_s * sample_rate_hz) if mark is not None else 0
        known = (mark.offset, mark.offset_before) if mark is not None else None
        self._offset = OffsetRemover(sample_rate_hz, start, known)
        self._gain = GainGuard(sample_rate_hz, start, mark.peak if mark is not None else 1.0)
        self._clipping = ClippingWatch(sample_rate_hz)
        self._layout = LayoutWatch(sample_rate_hz) if channels == 1 else None
        self._heard = 0
        self._quiet_until = 0
        """Position before which no more clipping is reported."""
        self._findings: list[Finding] = []

    def clean(self, samples: Float32Array) -> Float32Array:
        """The samples as they go on, shape (n,), finite and within [-1, 1].

        At the beginning a few milliseconds are held back.
        """
        samples, replaced = replace_non_finite(samples)
        if replaced:
            message = "samples that are not finite were replaced by silence"
            self._findings.append(Finding("samples_replaced", message, replaced))
        self._heard += len(samples)
        self._report_clipping(self._clipping.hear(samples))
        suspicion = self._layout.hear(samples) if self._layout is not None else "as_declared"
        if suspicion != "as_declared":
            self._findings.append(Finding("format_suspicious", SUSPICIONS[suspicion]))
        return self._gain.hold(self._offset.remove(samples))

    def end(self) -> Float32Array:
        """No more audio: what was held back."""
        self._report_clipping(self._clipping.end())
        return self._gain.hold(self._offset.flush())

    def mark_at(self, position_s: float) -> FrontMark | None:
        """What another one that begins at a place is to go by; ``None`` where it may as well begin anew.

        Places that are asked for never go back: what lies before is forgotten.
        """
        position = round(position_s * self._rate_hz)
        known, peak = self._offset.known_at(position), self._gain.peak_at(position)
        return FrontMark(offset=known[0], offset_before=known[1], peak=peak) if known is not None else None

    def take_findings(self) -> list[Finding]:
        """What was found since the last call."""
        findings, self._findings = self._findings, []
        return findings

    def _report_clipping(self, samples: int) -> None:
        if not samples or self._heard < self._quiet_until:
            return
        self._quiet_until = self._heard + round(CLIPPING_EVERY_S * self._rate_hz)
        message = f"{samples} samples of the last {WINDOW_S:.0f} s are cut off at full scale: turn the microphone down"
        self._findings.append(Finding("audio_clipped", message, samples))
