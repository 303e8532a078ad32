"""Live captions on a terminal: what the screen shows at each moment."""

from __future__ import annotations

import msgspec
from rich.console import Console
from rich.text import Text

from edge_asr.cli.terminal_captions import TerminalCaptions
from edge_asr.clock import ManualClock
from edge_asr.events import Command, Notice
from edge_asr.listening.messages import MicrophoneEvent, MicrophoneLevel, MicrophoneState, State
from tests.support.values import final, partial

SECOND_NS = 1_000_000_000


def captions(**options: int | bool) -> TerminalCaptions:
    shown = TerminalCaptions("starter-en", ManualClock(10 * SECOND_NS), **options)  # type: ignore[arg-type]
    shown.load()
    return shown


def state(name: State, message: str = "") -> MicrophoneState:
    return MicrophoneState(name, "USB microphone", message)


def level(peak_dbfs: float | None, position_s: float = 3.0) -> MicrophoneLevel:
    return MicrophoneLevel(peak_dbfs, peak_dbfs, position_s, 10 * SECOND_NS)


def styles(text: Text) -> dict[str, str]:
    return {text.plain[span.start : span.end]: str(span.style) for span in text.spans}


def status_of(shown: TerminalCaptions, width: int = 100) -> str:
    console = Console(width=width, color_system=None, force_terminal=True)
    with console.capture() as capture:
        console.print(shown.status_line())
    return capture.get().rstrip()


def hear(shown: TerminalCaptions, *events: MicrophoneEvent) -> list[str]:
    """Take events; the lines that are left standing."""
    return [line.plain for line in map(shown.take, events) if line is not None]


def test_settled_text_is_plain_and_the_rest_is_dim() -> None:
    shown = captions()
    hear(shown, partial("go forward ten", 10))
    assert shown.open_sentence().plain == "go forward ten"
    assert styles(shown.open_sentence()) == {" ten": "dim"}


def test_a_finished_sentence_is_left_standing_and_the_open_one_is_gone() -> None:
    shown = captions()
    assert hear(shown, partial("go for", 3), final("go forward")) == ["go forward"]
    assert shown.open_sentence().plain == ""


def test_what_was_meant_stands_behind_a_spoken_command() -> None:
    meant = Command("SetTimer", {"minutes": 5, "name": "tea"}, 0.93)
    spoken = msgspec.structs.replace(final("set a timer"), command=meant)
    assert hear(captions(), spoken) == ["set a timer  → SetTimer  minutes: 5  name: tea"]


def test_a_segment_in_which_nothing_was_said_leaves_no_line() -> None:
    assert hear(captions(), final("")) == []


def test_of_a_very_long_sentence_the_end_is_shown() -> None:
    shown = captions(width=10, height=7)
    hear(shown, partial("one two three four five six", 3))
    assert shown.open_sentence().plain == " three four five six"


def test_the_status_line_says_what_is_going_on() -> None:
    shown = captions()
    hear(shown, state("listening"), level(-20.0), level(-6.0))
    assert status_of(shown).startswith("● listening")
    assert "▅▇   -6 dB" in status_of(shown)
    assert status_of(shown).endswith("USB microphone · starter-en · Ctrl-C ends")
    hear(shown, final("go forward"))
    assert status_of(shown).endswith("USB microphone · starter-en")


def test_a_terminal_without_unicode_gets_plain_signs() -> None:
    shown = captions(is_unicode=False)
    hear(shown, state("listening"), level(-6.0))
    assert status_of(shown).isascii() or "·" in status_of(shown)
    assert status_of(shown).startswith("* listening")


def test_while_the_model_loads_that_is_said() -> None:
    shown = TerminalCaptions("starter-en", ManualClock())
    hear(shown, state("listening"))
    assert "loading starter-en; speak already, nothing is lost" in status_of(shown)
    shown.load()
    assert "listening" in status_of(shown)


def test_lag_is_from_the_end_of_the_newest_word_to_now() -> None:
    shown = captions()
    # The piece that ends 3 s after the beginning was captured just now; the word in the partial ended after 1 s.
    hear(shown, state("listening"), level(-6.0, position_s=3.0), partial("go", 0))
    assert "lag 2.0 s" in status_of(shown)


def test_a_loss_and_a_return_are_left_standing_and_the_status_line_follows() -> None:
    shown = captions()
    gone = hear(shown, state("listening"), state("lost", "the microphone is lost: the device is gone"))
    assert gone == ["the microphone is lost: the device is gone"]
    assert "waiting for it" in status_of(shown)
    assert hear(shown, state("back", "the microphone is back")) == ["the microphone is back"]
    assert status_of(shown).startswith("● listening")


def test_a_notice_is_left_standing() -> None:
    assert hear(captions(), Notice("s", "audio_dropped", "0.20 s of audio were lost")) == ["0.20 s of audio were lost"]
