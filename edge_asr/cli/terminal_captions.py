"""Live captions on a terminal: finished sentences scroll up, the open one stands below them, a status line last."""

from __future__ import annotations

import logging
import sys
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from edge_asr.clock import Clock
from edge_asr.events import Failed, Final, Notice, Partial
from edge_asr.listening.messages import MicrophoneEvent, MicrophoneLevel, MicrophoneState

_METER_PIECES = 16
_QUIETEST_DBFS = -60.0
_BLOCKS = " ▁▂▃▄▅▆▇█"
_PLAIN_BLOCKS = " .:-=+*#%"

_STATES = {
    "starting": ("opening the microphone", "yellow"),
    "listening": ("listening", "green"),
    "back": ("listening", "green"),
    "sound": ("listening", "green"),
    "silent": ("silence: is it muted?", "yellow"),
    "waiting": ("waiting for the microphone", "yellow"),
    "lost": ("the microphone is lost, waiting for it", "red"),
    "stopped": ("the last words", "yellow"),
}
"""What is said of a state, and its colour."""

LEVELS_PER_REFRESH = 2
"""Ten levels come a second; a board has better things to do than to draw each."""


class TerminalCaptions:
    """The state of the screen; :func:`terminal_captions` draws it.

    Args:
        model: Name shown while it loads and after.
        clock: What lag is measured by.
        width: Columns.
        height: Lines.
        is_unicode: Whether the terminal can draw blocks.
    """

    def __init__(self, model: str, clock: Clock, *, width: int = 80, height: int = 24, is_unicode: bool = True) -> None:
        self.width = width
        self.height = height
        self._model = model
        self._clock = clock
        self._blocks = _BLOCKS if is_unicode else _PLAIN_BLOCKS
        self._dot = "●" if is_unicode else "*"
        self._is_loaded = False
        self._state = MicrophoneState("starting", "", "")
        self._partial: Partial | None = None
        self._levels: deque[float | None] = deque(maxlen=_METER_PIECES)
        self._last_level: MicrophoneLevel | None = None
        self._lag_s: float | None = None
        self._has_heard = False

    # What happens

    def take(self, event: MicrophoneEvent) -> Text | None:
        """Take an event; the line to be left standing, if it gives one."""
        match event:
            case Partial():
                self._partial = event
                self._measure_lag(event)
            case Final():
                self._partial = None
                self._has_heard = self._has_heard or bool(event.text)
                return _finished(event)
            case MicrophoneLevel():
                self._last_level = event
                self._levels.append(event.peak_dbfs)
            case MicrophoneState():
                return self._take_state(event)
            case Notice() | Failed():
                return Text(event.message, style="yellow")
            case _:
                pass
        return None

    def load(self) -> None:
        """The model is ready."""
        self._is_loaded = True

    def _take_state(self, state: MicrophoneState) -> Text | None:
        self._state = state
        if state.state == "lost":
            self._levels.clear()
        return Text(state.message, style="yellow") if state.state in ("lost", "back") else None

    def _measure_lag(self, partial: Partial) -> None:
        """From the end of the newest word in the air to now."""
        level = self._last_level
        if level is not None:
            spoken_ns = level.captured_ns - (level.position_s - partial.end_s) * 1e9
            self._lag_s = max(0.0, (self._clock.now_ns() - spoken_ns) / 1e9)

    # What is shown

    def render(self) -> Group:
        """The open sentence and the status line."""
        return Group(self.open_sentence(), "", self.status_line())

    def open_sentence(self) -> Text:
        """Settled text plain, the rest dim; of a very long one the end."""
        if self._partial is None:
            return Text("")
        text, stable = self._partial.text, self._partial.stable_chars
        hidden = max(0, len(text) - self.width * max(1, self.height - 5))
        return Text(text[hidden : max(stable, hidden)]) + Text(text[max(stable, hidden) :], style="dim")

    def status_line(self) -> Table:
        """State, level, lag, and what listens."""
        words, colour = _STATES[self._state.state]
        if not self._is_loaded and colour == "green":
            words, colour = f"loading {self._model}; speak already, nothing is lost", "yellow"
        line = Table.grid(padding=(0, 2), expand=True)
        for _ in range(3):
            line.add_column(no_wrap=True)
        line.add_column(no_wrap=True, justify="right", ratio=1, overflow="ellipsis")
        line.add_row(
            Text(f"{self._dot} {words}", style=colour), self._meter(), self._lag(), Text(self._who(), style="dim")
        )
        return line

    def _meter(self) -> Text:
        """The loudest of each tenth of a second, newest at the right."""
        levels = list(self._levels)
        drawn = "".join(self._block(level) for level in levels).rjust(_METER_PIECES)
        now = levels[-1] if levels else None
        return Text.assemble((drawn, "green"), (f" {now:4.0f} dB" if now is not None else "   -- dB", "dim"))

    def _block(self, level: float | None) -> str:
        if level is None:
            return self._blocks[0]
        loudness = 1 - max(level, _QUIETEST_DBFS) / _QUIETEST_DBFS
        return self._blocks[min(len(self._blocks) - 1, round(loudness * (len(self._blocks) - 1)))]

    def _lag(self) -> Text:
        return Text("" if self._lag_s is None else f"lag {self._lag_s:.1f} s", style="dim")

    def _who(self) -> str:
        hint = "" if self._has_heard else "Ctrl-C ends"  # whoever has read a sentence has read that, too
        return " · ".join(word for word in (self._state.device, self._model, hint) if word)


def _finished(final: Final) -> Text | None:
    """The sentence, and what was meant where it is a command; nothing for one without words."""
    if not final.text:
        return None
    if final.command is None:
        return Text(final.text)
    slots = "".join(f"  {name}: {value}" for name, value in final.command.slots.items())
    return Text.assemble(final.text, (f"  → {final.command.intent}{slots}", "cyan"))


class _Drawn:
    """Captions on a live display."""

    def __init__(self, captions: TerminalCaptions, live: Live) -> None:
        self._captions = captions
        self._live = live
        self._levels = 0

    def hear(self, event: MicrophoneEvent) -> None:
        """Take an event and draw what it changes."""
        self._captions.width, self._captions.height = self._live.console.size
        line = self._captions.take(event)
        if line is not None:
            self._live.console.print(line)
        if isinstance(event, MicrophoneLevel):
            self._levels += 1
            if self._levels % LEVELS_PER_REFRESH:
                return
        self._draw()

    def model_is_ready(self) -> None:
        """The model is ready."""
        self._captions.load()
        self._draw()

    def _draw(self) -> None:
        self._live.update(self._captions.render(), refresh=True)


@contextmanager
def terminal_captions(model: str, clock: Clock) -> Iterator[_Drawn]:
    """Captions on standard output, which is a terminal; at the end only finished sentences are left."""
    console = Console()
    captions = TerminalCaptions(model, clock, is_unicode=console.encoding.startswith("utf"))
    with Live(console=console, auto_refresh=False, transient=True) as live, _logging_above():
        drawn = _Drawn(captions, live)
        drawn.hear(MicrophoneState("starting", "", ""))
        yield drawn


@contextmanager
def _logging_above() -> Iterator[None]:
    """Log lines are printed above the display, which has taken standard error for itself."""
    handlers = [h for h in logging.getLogger("edge_asr").handlers if isinstance(h, logging.StreamHandler)]
    streams = [handler.setStream(sys.stderr) for handler in handlers]
    try:
        yield
    finally:
        for handler, stream in zip(handlers, streams, strict=True):
            if stream is not None:
                handler.setStream(stream)
