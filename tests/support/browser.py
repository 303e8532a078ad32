"""A headless Chromium, spoken to by its DevTools protocol: enough of it to open a page, press things and look.

The fake microphone plays a WAV file. Waiting is done in the page: a condition is looked at again whenever the browser
draws, until it holds.
"""

from __future__ import annotations

import base64
import contextlib
import itertools
import json
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from websockets.sync.client import connect

EXECUTABLE = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")

_WAIT = """new Promise((resolve, reject) => {
  const until = performance.now() + 1000 * %d;
  const look = () => {
    const found = (() => { try { return %s; } catch (error) { return false; } })();
    if (found) resolve(found);
    else if (performance.now() > until) reject(new Error('not within the time allowed'));
    else setTimeout(look, 50);
  };
  look();
})"""


class Browser:
    """One page in a browser of its own.

    Args:
        microphone: WAV file that the fake microphone plays once; with ``is_looped``, again and again.
        size: Of the window, CSS pixels.
    """

    def __init__(
        self, microphone: Path | None = None, size: tuple[int, int] = (1280, 900), *, is_looped: bool = False
    ) -> None:
        assert EXECUTABLE is not None, "Chromium is not installed"
        words = [
            EXECUTABLE,
            "--headless=new",
            "--no-sandbox",  # the tests may run as root
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--no-first-run",
            "--use-fake-device-for-media-stream",
            "--use-fake-ui-for-media-stream",
            "--remote-debugging-port=0",
            "--remote-allow-origins=*",
            f"--window-size={size[0]},{size[1]}",
        ]
        if microphone is not None:
            words.insert(1, f"--use-file-for-fake-audio-capture={microphone}{'' if is_looped else '%noloop'}")
        self._words = words
        self._numbers = itertools.count(1)
        self._size = size
        self._closing = ExitStack()
        self.complaints: list[str] = []
        """What the page's console said that was not just information, and errors nobody caught."""

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            profile = stack.enter_context(
                tempfile.TemporaryDirectory(prefix="edge-asr-browser-", ignore_cleanup_errors=True)
            )
            process = stack.enter_context(_running([*self._words, f"--user-data-dir={profile}", "about:blank"]))
            address = self._address(process)
            self._socket = stack.enter_context(connect(self._page(address), max_size=None))
            for domain in ("Page", "Runtime", "Log", "DOM"):
                self.call(f"{domain}.enable")
            self.resize(*self._size)
            self._closing = stack.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._closing.close()

    # What a person does

    def open(self, url: str) -> None:
        """Go to an address and wait for the page."""
        self.call("Page.navigate", url=url)
        self.wait("document.readyState === 'complete' && location.href !== 'about:blank'")

    def click(self, selector: str) -> None:
        """Press the middle of an element, as a mouse does."""
        place = self.evaluate(
            f"(() => {{ const r = document.querySelector({json.dumps(selector)}).getBoundingClientRect();"
            " return [r.x + r.width / 2, r.y + r.height / 2]; })()"
        )
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=place[0], y=place[1], button="left", clickCount=1)

    def press(self, key: str) -> None:
        """A key: ``Tab``, ``Enter``."""
        codes = {"Tab": 9, "Enter": 13}
        text = {"text": "\r"} if key == "Enter" else {}
        for kind in ("keyDown", "keyUp"):
            fields = {"type": kind, "key": key, "code": key, "windowsVirtualKeyCode": codes[key]}
            self.call("Input.dispatchKeyEvent", **fields, **(text if kind == "keyDown" else {}))

    def type(self, text: str) -> None:
        """Type into what has the focus."""
        self.call("Input.insertText", text=text)

    def choose_file(self, selector: str, path: Path) -> None:
        """Choose a file in a file input."""
        root = self.call("DOM.getDocument")["root"]["nodeId"]
        node = self.call("DOM.querySelector", nodeId=root, selector=selector)["nodeId"]
        self.call("DOM.setFileInputFiles", nodeId=node, files=[str(path)])

    def resize(self, width: int, height: int, *, is_phone: bool = False) -> None:
        """Give the window another size."""
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=is_phone
        )

    def prefer(self, **features: str) -> None:
        """Emulate media features, such as ``prefers_color_scheme="dark"``."""
        named = [{"name": name.replace("_", "-"), "value": value} for name, value in features.items()]
        self.call("Emulation.setEmulatedMedia", features=named)

    # What a person sees

    def text(self, selector: str) -> str:
        """What an element says."""
        return str(self.evaluate(f"document.querySelector({json.dumps(selector)}).innerText"))

    def wait(self, condition: str, timeout_s: int = 60) -> Any:
        """The value of an expression once it is true."""
        return self.evaluate(_WAIT % (timeout_s, condition))

    def screenshot(self, path: Path, *, is_whole: bool = False) -> Path:
        """Keep a picture of the window, or of the whole page."""
        picture = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=is_whole)
        path.write_bytes(base64.b64decode(picture["data"]))
        return path

    def evaluate(self, expression: str) -> Any:
        """The value of an expression in the page."""
        answer = self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in answer:
            raise AssertionError(f"{expression[:200]}: {_reason(answer['exceptionDetails'])}")
        return answer["result"].get("value")

    # The protocol

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """One command of the protocol, and its answer."""
        number = next(self._numbers)
        self._socket.send(json.dumps({"id": number, "method": method, "params": parameters}))
        while True:
            message = json.loads(self._socket.recv(timeout=120))
            if message.get("id") == number:
                if "error" in message:
                    raise AssertionError(f"{method}: {message['error']}")
                result: dict[str, Any] = message["result"]
                return result
            self._note(message)

    def _note(self, message: dict[str, Any]) -> None:
        parameters = message.get("params", {})
        if message.get("method") == "Runtime.exceptionThrown":
            self.complaints.append(_reason(parameters["exceptionDetails"]))
        elif message.get("method") == "Runtime.consoleAPICalled" and parameters["type"] in ("error", "warning"):
            self.complaints.append(" ".join(str(argument.get("value")) for argument in parameters["args"]))
        elif message.get("method") == "Log.entryAdded" and parameters["entry"]["level"] in ("error", "warning"):
            self.complaints.append(f"{parameters['entry']['text']} {parameters['entry'].get('url', '')}".strip())

    @staticmethod
    def _address(process: subprocess.Popen[bytes]) -> str:
        assert process.stderr is not None
        for line in process.stderr:
            if line.startswith(b"DevTools listening on "):
                return line.removeprefix(b"DevTools listening on ").decode().strip()
        raise AssertionError(f"Chromium ended with {process.wait()}")

    @staticmethod
    def _page(address: str) -> str:
        with connect(address, max_size=None) as browser:
            browser.send('{"id": 0, "method": "Target.getTargets"}')
            targets = json.loads(browser.recv())["result"]["targetInfos"]
        page = next(target["targetId"] for target in targets if target["type"] == "page")
        return f"{address.partition('/devtools/')[0]}/devtools/page/{page}"


@contextlib.contextmanager
def _running(words: list[str]) -> Iterator[subprocess.Popen[bytes]]:
    """The browser with all its processes, none of which is left."""
    with subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True) as process:
        try:
            yield process
        finally:
            os.killpg(process.pid, signal.SIGKILL)


def _reason(details: dict[str, Any]) -> str:
    return str(details.get("exception", {}).get("description") or details["text"])
