from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from edge_asr.manifest import ModelFile, ModelManifest, ModelSource
from edge_asr.store.store import InstalledModel
from tools.peers_bench.adapters.commands import (
    ProgramPeer,
    Said,
    live,
    read_sherpa,
    read_transcribe,
    sherpa_options,
)
from tools.peers_bench.peer import PeerFailed

SHERPA_OUTPUT = """\
OnlineRecognizerConfig(num_threads=1)
Start to create recognizer
Recognizer created in 1.05598 s
/tmp/x.wav
Number of threads: 1, Elapsed seconds: 0.23, Audio duration (s): 2.8, Real time factor (RTF) = 0.23/2.8 = 0.082
go forward ten meters
{ "text": " go forward ten meters", "tokens": [" g", "o"], "is_final": false, "is_eof": false}
"""


def test_figures_and_text_are_read_from_what_sherpa_onnx_prints() -> None:
    assert read_sherpa(SHERPA_OUTPUT) == Said(1.05598, 0.23, "go forward ten meters")


def test_output_without_figures_is_that_of_a_program_that_failed() -> None:
    with pytest.raises(ValueError, match="figures"):
        read_sherpa("Failed to read '/tmp/x.wav'")


def test_notes_around_the_transcript_do_not_matter() -> None:
    document = json.dumps([{"rtf": 0.25, "duration_s": 4.0, "text": "go"}], indent=2)
    output = f"edge-asr: note: it hears [some] words\n{document}\nedge-asr: note: bye\n"
    assert read_transcribe(output) == Said(0.0, 1.0, "go")


def installed(**files: str) -> InstalledModel:
    manifest = ModelManifest(
        name="m",
        version="1",
        family="zipformer2-ctc",
        languages=("en",),
        sample_rate_hz=16_000,
        chunk_ms=320,
        precision="int8",
        files={role: ModelFile(path=path) for role, path in files.items()},
        licence="Apache-2.0",
        source=ModelSource(kind="local"),
    )
    return InstalledModel(manifest, Path("/m"))


def test_a_ctc_model_is_given_with_its_graph() -> None:
    assert sherpa_options(installed(tokens="t.txt", model="m.onnx", graph="g.fst")) == [
        "--tokens=/m/t.txt",
        "--zipformer2-ctc-model=/m/m.onnx",
        "--ctc-graph=/m/g.fst",
    ]


def test_a_transducer_is_given_by_its_three_parts() -> None:
    assert sherpa_options(installed(tokens="t.txt", encoder="e.onnx", decoder="d.onnx", joiner="j.onnx")) == [
        "--tokens=/m/t.txt",
        "--encoder=/m/e.onnx",
        "--decoder=/m/d.onnx",
        "--joiner=/m/j.onnx",
    ]


def test_the_life_of_a_program_has_its_processor_time_and_both_outputs() -> None:
    life = live([sys.executable, "-c", "import sys; print('out'); print('err', file=sys.stderr)"])
    assert sorted(life.output.split()) == ["err", "out"]
    assert life.cpu_s > 0


def test_a_program_that_fails_is_named() -> None:
    peer = ProgramPeer("broken", lambda _model: [sys.executable, "-c", "print('no model')"], read_sherpa, is_exact=True)
    with pytest.raises(PeerFailed, match="broken failed: no model"), peer.start(installed(tokens="t.txt")):
        pass
