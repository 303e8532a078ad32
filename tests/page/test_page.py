"""The page, end to end: a browser with a fake microphone, the real daemon, the bundled model."""

from __future__ import annotations

import importlib.resources
import json
import socket
from pathlib import Path

import pytest

from tests.page.conftest import SENTENCES
from tests.support.browser import Browser
from tests.support.daemon import DaemonProcess

SAID = [text for _, text in SENTENCES]
FINALS = "[...document.querySelectorAll('#finals .said:not(.meant)')].map((item) => item.textContent)"
IS_IDLE = "document.querySelector('#listen').getAttribute('aria-pressed') === 'false'"
OPEN = "document.querySelector('#open').textContent"
FIGURES = "[...document.querySelectorAll('.chart')].map((c) => c.querySelector('.now').textContent)"
DRAWN = """[...document.querySelectorAll('.plot canvas')].map((c) => {
  const pixels = new Uint32Array(c.getContext('2d').getImageData(0, 0, c.width, c.height).data.buffer);
  return new Set(pixels).size;
})"""
WATCH_PARTIALS = """window.partials = [];
  new MutationObserver(() => { const t = document.querySelector('#open').textContent; if (t) partials.push(t); })
    .observe(document.querySelector('#open'), { childList: true, subtree: true, characterData: true });"""


@pytest.mark.model
def test_captions_from_the_microphone_are_read_as_they_are_spoken(
    browser: Browser, daemon: DaemonProcess, tmp_path: Path
) -> None:
    browser.open(f"{daemon.http}/")
    browser.wait("document.querySelector('#daemon').className === 'ready'")
    browser.screenshot(tmp_path / "before.png")
    assert "starter-en hears 961 command words only" in browser.text("#welcome")
    browser.evaluate(WATCH_PARTIALS)
    browser.click("#listen")
    browser.wait(f"{FINALS}.length >= 1 && {OPEN}.length > 10")
    browser.screenshot(tmp_path / "captions.png")
    browser.wait(f"{FINALS}.length === {len(SAID)}")
    browser.click("#listen")
    browser.wait(IS_IDLE)
    browser.screenshot(tmp_path / "after.png", is_whole=True)

    assert browser.evaluate(FINALS) == SAID
    partials = browser.evaluate("partials")
    assert any(SAID[1].startswith(text) and len(text) < len(SAID[1]) for text in partials)
    assert browser.text("#daemon") == "starter-en on cpu"
    assert browser.complaints == []


@pytest.mark.model
def test_the_charts_move_while_somebody_speaks(browser: Browser, daemon: DaemonProcess, tmp_path: Path) -> None:
    browser.open(f"{daemon.http}/")
    browser.wait(f"{FIGURES}[4] === '0 of 16'")
    browser.click("#listen")
    rtf, latency, memory, temperature, sessions = browser.wait(
        f"/^0\\.\\d+$/.test({FIGURES}[0]) && / ms$/.test({FIGURES}[1]) && {FIGURES}[4] === '1 of 16' && {FIGURES}"
    )
    browser.wait(f"{FINALS}.length === {len(SAID)}")
    browser.screenshot(tmp_path / "charts.png", is_whole=True)
    assert 0 < float(rtf) < 1
    assert 0 < int(latency.removesuffix(" ms")) < 60_000
    assert int(memory.removesuffix(" MiB")) > 20
    assert temperature == "no sensor" or temperature.endswith(" °C")
    assert sessions == "1 of 16"
    shown = browser.evaluate("[...document.querySelectorAll('.plot')].map((plot) => getComputedStyle(plot).visibility)")
    assert shown == ["visible", "visible", "visible", "hidden" if temperature == "no sensor" else "visible", "visible"]
    # A line of its own colour on the grid's: no plot with figures is blank.
    assert [colours > 2 for colours in browser.evaluate(DRAWN)[:3]] == [True] * 3


@pytest.mark.model
def test_a_recording_is_read(reader: Browser, daemon: DaemonProcess, speech: Path) -> None:
    reader.open(f"{daemon.http}/")
    reader.choose_file("#file", speech)
    reader.wait(f"{FINALS}.length === {len(SAID)} && {IS_IDLE}")
    assert reader.evaluate(FINALS) == SAID
    assert reader.text("#state") == "speech.wav is read."
    assert reader.complaints == []


@pytest.mark.model
def test_a_recording_dropped_on_the_page_is_read(reader: Browser, daemon: DaemonProcess, speech: Path) -> None:
    reader.open(f"{daemon.http}/")
    dropped = {"items": [], "files": [str(speech)], "dragOperationsMask": 1}
    for kind in ("dragEnter", "dragOver"):
        reader.call("Input.dispatchDragEvent", type=kind, x=300, y=300, data=dropped)
    reader.wait("!document.querySelector('#drop').hidden")
    reader.call("Input.dispatchDragEvent", type="drop", x=300, y=300, data=dropped)
    reader.wait(f"{FINALS}.length === {len(SAID)} && {IS_IDLE}")
    assert reader.evaluate("document.querySelector('#drop').hidden")
    assert reader.evaluate(FINALS) == SAID


@pytest.mark.model
def test_what_was_meant_by_a_command_stands_below_it_and_nothing_said_becomes_markup(
    reader: Browser, daemon: DaemonProcess
) -> None:
    reader.open(f"{daemon.http}/")
    event = {
        "type": "final",
        "text": "<img src=x onerror=alert(1)>",
        "start_s": 1.0,
        "end_s": 2.0,
        "command": {"intent": "SetTimer", "slots": {"minutes": 5, "name": "<b>tea</b>"}, "score": 0.9},
    }
    reader.evaluate(f"import('/page/captions.js').then((captions) => captions.show({json.dumps(event)}, 0))")
    assert reader.evaluate(FINALS) == ["<img src=x onerror=alert(1)>"]
    assert reader.text("#finals .meant") == "SetTimer · minutes: 5 · name: <b>tea</b>"
    assert reader.evaluate("document.querySelectorAll('#finals img, #finals b').length") == 0


@pytest.mark.model
def test_what_was_said_can_be_taken_along_and_cleared(reader: Browser, daemon: DaemonProcess, speech: Path) -> None:
    reader.open(f"{daemon.http}/")
    reader.choose_file("#file", speech)
    reader.wait(f"{FINALS}.length === {len(SAID)} && {IS_IDLE}")
    subtitles = reader.evaluate("import('/page/captions.js').then((captions) => captions.subtitles())")
    cues = [cue.splitlines() for cue in subtitles.strip().split("\n\n")]
    assert [cue[0] for cue in cues] == ["1", "2", "3"]
    assert [cue[2] for cue in cues] == SAID
    assert cues[0][1].startswith("00:00:00,")
    reader.click("#clear")
    assert reader.evaluate(FINALS) == []
    assert reader.evaluate("document.querySelector('#copy').disabled")


@pytest.mark.model
def test_a_file_that_is_no_recording_is_said_so(reader: Browser, daemon: DaemonProcess, tmp_path: Path) -> None:
    broken = tmp_path / "notes.wav"
    broken.write_text("not a sound")
    reader.open(f"{daemon.http}/")
    reader.choose_file("#file", broken)
    reader.wait("document.querySelector('#state').className.includes('trouble')")
    assert reader.text("#state").startswith("notes.wav cannot be read: ")
    assert reader.evaluate(IS_IDLE)


@pytest.mark.model
@pytest.mark.parametrize(
    ("error", "words"),
    [
        ("NotAllowedError", "The browser was not allowed to use the microphone"),
        ("NotFoundError", "This device has no microphone; a recording works all the same."),
        ("NotReadableError", "The microphone cannot be used: it is held"),
    ],
)
def test_a_microphone_that_cannot_be_had_is_said_with_the_reason(
    browser: Browser, daemon: DaemonProcess, error: str, words: str
) -> None:
    browser.open(f"{daemon.http}/")
    browser.evaluate(
        f"navigator.mediaDevices.getUserMedia = async () => {{ throw new DOMException('it is held', '{error}'); }}; 0"
    )
    browser.click("#listen")
    browser.wait(f"{IS_IDLE} && document.querySelector('#state').textContent !== ''")
    assert browser.text("#state").startswith(words)


@pytest.mark.model
def test_a_daemon_with_a_token_is_asked_with_it(browser: Browser, tmp_path: Path) -> None:
    token = "to/ken+" + "x" * 32
    token_file = tmp_path / "token"
    token_file.write_text(token)
    token_file.chmod(0o600)
    with DaemonProcess("-m", "starter-en", "--token-file", str(token_file)) as guarded:
        browser.open(f"{guarded.http}/")
        browser.wait("document.querySelector('#token-dialog').open")
        browser.screenshot(tmp_path / "token.png")
        browser.type("wrong" * 8)
        browser.press("Enter")
        browser.wait("document.querySelector('#token-wrong').textContent.includes('does not know')")
        browser.type(token)
        browser.press("Enter")
        browser.wait("document.querySelector('#daemon').className === 'ready'")
        browser.click("#listen")
        browser.wait(f"{FINALS}.length >= 1")
        assert browser.evaluate(FINALS)[0] == SAID[0]
        assert token not in browser.evaluate("location.href + document.cookie + JSON.stringify({...localStorage})")
        assert token not in guarded.log


@pytest.mark.model
def test_over_plain_http_the_page_says_why_there_is_no_microphone(
    reader: Browser, speech: Path, tmp_path: Path
) -> None:
    host = socket.gethostbyname(socket.gethostname())
    if host.startswith("127."):
        host = _address_of_this_machine()
    with DaemonProcess("-m", "starter-en", "--host", "0.0.0.0", "--insecure", "http") as daemon:
        port = daemon.http.rpartition(":")[2]
        reader.open(f"http://{host}:{port}/")
        reader.wait("document.querySelector('#daemon').className === 'ready'")
        reader.screenshot(tmp_path / "insecure.png", is_whole=True)
        assert reader.evaluate("document.querySelector('#listen').disabled")
        reason = reader.text("#insecure")
        assert "https" in reason
        assert f"ssh -L {port}:localhost:{port} USER@{host}" in reason
        reader.choose_file("#file", speech)
        reader.wait(f"{FINALS}.length === {len(SAID)} && {IS_IDLE}")
        assert reader.complaints == []


def _address_of_this_machine() -> str:
    """Of the interface that would be used for the outside; nothing is sent."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))
        except OSError:
            pytest.skip("this machine has no address but loopback, where browsers trust every page")
        return str(probe.getsockname()[0])


@pytest.mark.model
def test_a_daemon_that_starts_again_goes_on_with_the_captions(speech: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = str(probe.getsockname()[1])
    with Browser(speech, is_looped=True) as browser:
        with DaemonProcess("-m", "starter-en", "--port", port) as first:
            browser.open(f"{first.http}/")
            browser.click("#listen")
            browser.wait(f"{FINALS}.length >= 1")
        browser.wait("document.querySelector('#state').textContent.includes('connection is lost')")
        before = browser.evaluate(f"{FINALS}.length")
        with DaemonProcess("-m", "starter-en", "--port", port):
            browser.wait(f"{FINALS}.length > {before}")
            assert browser.text("#state").startswith("Listening to ")
            times = browser.evaluate(
                "[...document.querySelectorAll('#finals time')].map((t) => Number(t.dateTime.slice(2, -1)))"
            )
            browser.click("#listen")
            browser.wait(IS_IDLE)
    assert times == sorted(times)
    assert times[-1] > times[0] + 1


@pytest.mark.model
def test_the_keyboard_is_enough(browser: Browser, daemon: DaemonProcess) -> None:
    browser.open(f"{daemon.http}/")
    focused = []
    for _ in range(4):
        browser.press("Tab")
        focused.append(browser.evaluate("document.activeElement.id || document.activeElement.className"))
        assert browser.evaluate("getComputedStyle(document.activeElement).outlineStyle") != "none"
        if focused[-1] == "listen":
            break
    assert focused == ["skip", "captions", "listen"]
    browser.press("Enter")
    browser.wait(f"{FINALS}.length >= 1")
    browser.press("Enter")
    browser.wait(IS_IDLE)


@pytest.mark.model
@pytest.mark.parametrize("width", [320, 390, 768])
def test_it_fits_on_small_screens(reader: Browser, daemon: DaemonProcess, width: int, tmp_path: Path) -> None:
    reader.resize(width, 800, is_phone=True)
    reader.open(f"{daemon.http}/")
    reader.wait(f"{FIGURES}[4] === '0 of 16'")
    reader.screenshot(tmp_path / f"phone-{width}.png", is_whole=True)
    assert reader.evaluate("document.documentElement.scrollWidth") <= width
    heights = reader.evaluate(
        "[...document.querySelectorAll('button')].map((b) => b.getBoundingClientRect().height).filter((h) => h > 0)"
    )
    assert min(heights) >= 44


@pytest.mark.model
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_text_can_be_told_from_what_is_behind_it(reader: Browser, daemon: DaemonProcess, scheme: str) -> None:
    reader.prefer(prefers_color_scheme=scheme)
    reader.open(f"{daemon.http}/")
    style = "getComputedStyle(document.documentElement).getPropertyValue"
    colours = {
        name: reader.evaluate(f"{style}({json.dumps(f'--{name}')})").strip()
        for name in ("paper", "card", "ink", "soft", "accent", "second", "bad", "accent-ink", "stop", "stop-ink")
    }
    texts = [(text, ground) for text in ("ink", "soft", "accent", "second", "bad") for ground in ("paper", "card")]
    texts += [("accent-ink", "accent"), ("stop-ink", "stop")]
    ratios = {pair: contrast(colours[pair[0]], colours[pair[1]]) for pair in texts}
    assert {pair: ratio for pair, ratio in ratios.items() if ratio < 4.5} == {}


def contrast(first: str, second: str) -> float:
    """As the Web Content Accessibility Guidelines define it, 1 to 21."""
    lighter, darker = sorted((_luminance(first), _luminance(second)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def _luminance(colour: str) -> float:
    channels = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4 for value in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.model
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_rules_of_accessibility_hold(reader: Browser, daemon: DaemonProcess, speech: Path, scheme: str) -> None:
    rules = importlib.resources.files("axe_core_python").joinpath("axe.min.js").read_text(encoding="utf-8")
    reader.prefer(prefers_color_scheme=scheme)
    reader.open(f"{daemon.http}/")
    reader.choose_file("#file", speech)
    reader.wait(f"{FINALS}.length === {len(SAID)} && {IS_IDLE}")
    reader.evaluate(f"{rules}; 0")
    broken = reader.evaluate(
        "axe.run(document).then((found) => found.violations.map("
        " (rule) => [rule.id, ...rule.nodes.map((node) => node.html.slice(0, 200))]))"
    )
    assert broken == []


@pytest.mark.model
def test_screen_readers_are_told_sentences_and_not_every_change(reader: Browser, daemon: DaemonProcess) -> None:
    reader.open(f"{daemon.http}/")
    live = reader.evaluate(
        "Object.fromEntries(['log', 'open'].map( (id) => [id, document.getElementById(id).getAttribute('aria-live')]))"
    )
    assert live == {"log": "polite", "open": "off"}
    unnamed = reader.evaluate(
        "[...document.querySelectorAll('button, input:not([aria-hidden]), dialog')].filter((e) =>"
        " !(e.textContent.trim() || e.labels?.length || e.getAttribute('aria-labelledby'))).map((e) => e.id)"
    )
    assert unnamed == []


@pytest.mark.model
def test_nothing_moves_for_those_who_asked_for_that(reader: Browser, daemon: DaemonProcess) -> None:
    reader.prefer(prefers_reduced_motion="reduce")
    reader.open(f"{daemon.http}/")
    assert reader.evaluate("getComputedStyle(document.querySelector('#level')).transitionDuration") in ("0s", "1e-05s")
