"""Reading along with the microphone of the daemon's own machine, on the page."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.page.conftest import SENTENCES
from tests.page.test_page import FINALS
from tests.support.browser import Browser
from tests.support.daemon import DaemonProcess
from tests.support.sound_server import DEVICE, needs_sound_server, sound_server

STATE = "document.querySelector('#state').textContent"


@needs_sound_server
@pytest.mark.model
def test_the_boards_microphone_is_read_along_and_its_loss_is_seen(
    browser: Browser, speech: Path, tmp_path: Path
) -> None:
    with sound_server(tmp_path) as server, DaemonProcess("--mic", DEVICE, **server.environment) as daemon:
        browser.open(f"{daemon.http}/")
        browser.wait("!document.querySelector('#board').hidden")
        browser.click("#board")
        browser.wait(f"{STATE}.startsWith('{DEVICE}: ')")
        with server.playing(speech):
            browser.wait(f"{FINALS}.length >= 1")
            server.unplug()
        browser.wait(f"{STATE}.includes('the microphone is lost')")
        server.plug_in()
        browser.wait(f"{STATE}.includes('the microphone is back')")
        browser.screenshot(tmp_path / "board.png")
        remarks = browser.evaluate("[...document.querySelectorAll('.event')].map((item) => item.textContent)")
        assert [remark.partition(":")[0] for remark in remarks] == ["the microphone is lost", "the microphone is back"]
        assert browser.evaluate(FINALS)[0].split()[1:] == SENTENCES[0][1].split()[1:]
        browser.click("#board")
        browser.wait("document.querySelector('#board').getAttribute('aria-pressed') === 'false'")
        assert browser.complaints == []


@pytest.mark.model
def test_a_daemon_without_a_microphone_offers_none(reader: Browser, daemon: DaemonProcess) -> None:
    reader.open(f"{daemon.http}/")
    reader.wait("document.querySelector('#daemon').className === 'ready'")
    assert reader.evaluate("document.querySelector('#board').hidden")
