from __future__ import annotations

import struct
from collections.abc import Callable
from pathlib import Path

import kaldifst
import pytest
import soundfile

from edge_asr.commands.grammar import Sequence, Word, or_any_speech, sentences
from edge_asr.commands.graph import build_language
from edge_asr.commands.jsgf import read_jsgf
from edge_asr.commands.spelling import Speller, read_speller
from edge_asr.engines.base import StreamOptions
from edge_asr.engines.decoding_graph import GraphUnreadable, read_graph, read_rejection, with_graph
from edge_asr.engines.registry import load_engine
from edge_asr.errors import ConfigurationError
from edge_asr.families import FAMILIES
from edge_asr.manifest import read_manifest
from edge_asr.settings import EngineSettings

ROOT = Path(__file__).resolve().parents[2]
STARTER = ROOT / "models" / "starter-en"
TOKENS = STARTER / "tokens.txt"
FILES = {"model": STARTER / "model.int8.onnx", "tokens": TOKENS, "graph": STARTER / "vocab.fst"}
CTC = FAMILIES["zipformer2-ctc"]


@pytest.fixture(scope="module")
def speller() -> Speller:
    return read_speller(STARTER / "bpe.model", TOKENS)


@pytest.fixture
def graph(tmp_path: Path, speller: Speller) -> Path:
    """Turns lamps on and off; anything else is rejected."""
    path = tmp_path / "lamps.fst"
    build_language(or_any_speech(sentences(["turn on", "turn off", "too too"])), speller).graph.write(path)
    return path


def shown(speller: Speller, text: str) -> list[str]:
    """Tokens as the engine shows them."""
    return [speller.symbols[token].replace("▁", " ") for word in text.split() for token in speller.spell(word)]


@pytest.mark.parametrize(
    ("text", "is_rejected"),
    [
        ("turn on", False),
        ("turn off", False),
        ("", False),
        ("turn", True),
        ("on", True),
        ("turn on turn", True),
        ("too", True),
    ],
)
def test_what_is_no_sentence_is_rejected(graph: Path, speller: Speller, text: str, is_rejected: bool):
    rejection = read_rejection(graph, TOKENS)
    assert rejection is not None
    assert rejection.rejects(shown(speller, text)) == is_rejected


def test_a_token_that_is_said_once_is_not_taken_for_two(tmp_path: Path, speller: Speller):
    path = tmp_path / "x.fst"
    build_language(or_any_speech(Sequence((Word("x"),))), speller).graph.write(path)
    rejection = read_rejection(path, TOKENS)
    assert rejection is not None
    assert rejection.rejects([*shown(speller, "x"), shown(speller, "x")[-1]])


def test_a_graph_that_cannot_reject_has_nothing_to_tell(tmp_path: Path, speller: Speller):
    path = tmp_path / "graph.fst"
    build_language(sentences(["turn on"]), speller).graph.write(path)
    assert read_rejection(path, TOKENS) is None


def test_output_labels_of_other_makers_are_no_rejection(tmp_path: Path):
    path = tmp_path / "words.fst"
    kaldifst.compile("0 1 5 99 0.5\n1 0.0\n").write(str(path))
    assert read_rejection(path, TOKENS) is None


def test_the_bundled_graph_can_be_used():
    read_rejection(STARTER / "vocab.fst", TOKENS)


def cut(content: bytes) -> bytes:
    return content[:-7]


def empty(_content: bytes) -> bytes:
    return b""


def text(_content: bytes) -> bytes:
    return b"0 1 5 5\n"


def another_type(content: bytes) -> bytes:
    return content.replace(b"standard", b"standxxx", 1)


def a_negative_count(content: bytes) -> bytes:
    first_state = 4 + 4 + len("vector") + 4 + len("standard") + struct.calcsize("<iiQqqq")
    return content[: first_state + 4] + struct.pack("<q", -1) + content[first_state + 12 :]


def an_arc_to_nowhere(content: bytes) -> bytes:
    return content[:-4] + struct.pack("<i", 1 << 20)


@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        (cut, "cut off or damaged"),
        (empty, "cut off or damaged"),
        (text, "no OpenFst file"),
        (another_type, "of the type vector, standxxx instead of vector, standard"),
        (a_negative_count, "cut off or damaged"),
        (an_arc_to_nowhere, "an arc leads nowhere"),
    ],
)
def test_a_damaged_graph_is_refused(graph: Path, damage: Callable[[bytes], bytes], reason: str):
    graph.write_bytes(damage(graph.read_bytes()))
    with pytest.raises(GraphUnreadable, match=reason):
        read_graph(graph, 128)


def test_a_graph_of_a_model_with_more_tokens_is_refused(graph: Path):
    with pytest.raises(GraphUnreadable, match="and the model has 20 tokens; make it for this model"):
        read_graph(graph, 20)


def test_what_is_wrong_with_a_graph_comes_with_its_name(tmp_path: Path):
    path = tmp_path / "my.fst"
    path.write_text("no graph")
    with pytest.raises(ConfigurationError, match=r"the decoding graph .*my\.fst cannot be used: it is no OpenFst file"):
        read_rejection(path, TOKENS)


@pytest.mark.model
@pytest.mark.parametrize(("clip", "text"), [("five-five", "five five"), ("go-forward", "")])
def test_a_grammar_hears_its_sentences_and_nothing_else(tmp_path: Path, speller: Speller, clip: str, text: str):
    path = tmp_path / "digits.fst"
    grammar = read_jsgf((ROOT / "tools" / "grammars" / "digits.jsgf").read_text(encoding="utf-8"))
    build_language(or_any_speech(grammar), speller).graph.write(path)
    engine = load_engine(STARTER, read_manifest(STARTER / "manifest.toml"), EngineSettings(graph=str(path)))
    stream = engine.open_stream(StreamOptions())
    stream.accept(soundfile.read(ROOT / "edge_asr" / "clips" / f"{clip}.flac", dtype="float32")[0])
    stream.finish()
    while stream.is_ready():
        engine.decode([stream])
    assert stream.hypothesis().text == text
    assert not engine.describe().is_append_only


def test_a_graph_of_the_user_replaces_that_of_the_model(graph: Path):
    assert with_graph(FILES, CTC, EngineSettings(graph=str(graph)))["graph"] == graph


def test_the_model_s_own_graph_is_the_default():
    assert with_graph(FILES, CTC, EngineSettings()) == FILES


def test_without_graphs_neither_is_used(graph: Path):
    assert "graph" not in with_graph(FILES, CTC, EngineSettings(use_graph=False, graph=str(graph)))


def test_a_graph_that_is_not_there_is_named():
    with pytest.raises(ConfigurationError, match=r"engine.graph = '/nowhere.fst' is no file"):
        with_graph(FILES, CTC, EngineSettings(graph="/nowhere.fst"))


def test_a_graph_for_a_family_that_takes_none_is_refused(graph: Path):
    with pytest.raises(ConfigurationError, match="does not work with models of the family moonshine; leave it empty"):
        with_graph(FILES, FAMILIES["moonshine"], EngineSettings(graph=str(graph)))
