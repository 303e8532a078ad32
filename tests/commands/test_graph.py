from __future__ import annotations

import itertools
from pathlib import Path

import kaldifst
import pytest
from hypothesis import given
from hypothesis import strategies as st

from edge_asr.commands import graph as graph_module
from edge_asr.commands.automaton import build_automaton
from edge_asr.commands.grammar import AnySpeech, Expression, Sequence, Word, or_any_speech, sentences, word_loop
from edge_asr.commands.graph import Costs, DecodingGraph, build_language, expand, to_openfst
from edge_asr.commands.spelling import Speller, read_speller
from edge_asr.errors import ConfigurationError
from tests.commands.test_automaton import SPELLINGS, expressions

STARTER = Path(__file__).resolve().parents[2] / "models" / "starter-en"
BLANK = 0
FRAMES = st.lists(st.sampled_from([BLANK, 1, 2]), max_size=7)


@pytest.fixture(scope="module")
def speller() -> Speller:
    return read_speller(STARTER / "bpe.model", STARTER / "tokens.txt")


def graph_of(expression: Expression, costs: Costs | None = None) -> DecodingGraph:
    costs = costs or Costs(token=0.0)
    return expand(build_automaton(expression, SPELLINGS.__getitem__, costs.word), BLANK, (1, 2), costs)


def best_cost(graph: DecodingGraph, frames: list[int]) -> float | None:
    """What the graph adds to the acoustic score of these tokens, one a frame; nothing when it has no such path."""
    heard = kaldifst.make_linear_acceptor([token + 1 for token in frames])
    native = to_openfst(graph)
    kaldifst.arcsort(native, sort_type="ilabel")
    both = kaldifst.shortest_path(kaldifst.compose(heard, native))
    if not both.num_states:
        return None
    _, _, _, total = kaldifst.get_linear_symbol_sequence(both)
    return float(total.value)


def collapsed(frames: list[int]) -> list[int]:
    return [token for token, _ in itertools.groupby(frames) if token != BLANK]


@given(expression=expressions(), frames=FRAMES)
def test_frames_pass_exactly_when_their_text_is_a_sentence_or_nothing(expression, frames):
    text = collapsed(frames)
    is_sentence = build_automaton(expression, SPELLINGS.__getitem__).accepts(text)
    assert (best_cost(graph_of(expression), frames) is not None) == (is_sentence or not text)


@given(frames=FRAMES)
def test_speech_of_any_kind_costs_by_its_tokens(frames):
    graph = graph_of(AnySpeech(), Costs(token=-1.0, any_speech=5.0, any_token=3.0))
    text = collapsed(frames)
    assert best_cost(graph, frames) == pytest.approx(5 + 2 * len(text) if text else 0)


def test_a_sentence_costs_less_than_the_same_tokens_as_any_speech():
    graph = graph_of(or_any_speech(Word("ab")), Costs(token=0.5, word=1.0, any_speech=0.0, any_token=2.0))
    assert best_cost(graph, [1, 2]) == pytest.approx(2.0)
    assert best_cost(graph, [2, 1]) == pytest.approx(5.0)


def test_speech_of_any_kind_may_be_a_part_of_a_sentence():
    graph = graph_of(Sequence((Word("a"), AnySpeech(), Word("b"))), Costs(token=0.0, any_speech=0.0, any_token=1.0))
    assert best_cost(graph, [1, 2, 1, 2]) == pytest.approx(2.0)
    assert best_cost(graph, [1, 2]) is None


def test_the_order_of_words_and_duplicates_do_not_change_the_file(speller: Speller, tmp_path: Path):
    one, two = tmp_path / "one.fst", tmp_path / "two.fst"
    build_language(or_any_speech(sentences(["turn on", "stop", "turn off"])), speller).graph.write(one)
    build_language(or_any_speech(sentences(["stop", "turn off", "stop", "turn on"])), speller).graph.write(two)
    assert one.read_bytes() == two.read_bytes()


def test_the_file_is_an_openfst_file_of_the_graph(speller: Speller, tmp_path: Path):
    graph = build_language(word_loop(["one", "two"]), speller).graph
    graph.write(tmp_path / "graph.fst")
    read = kaldifst.StdVectorFst.read(str(tmp_path / "graph.fst"))
    assert (read.num_states, read.start) == (graph.states, 0)
    assert sum(read.num_arcs(state) for state in range(read.num_states)) == len(graph.arcs)


def test_a_place_that_cannot_be_written_is_named(speller: Speller, tmp_path: Path):
    graph = build_language(word_loop(["one"]), speller).graph
    with pytest.raises(FileNotFoundError, match="missing"):
        graph.write(tmp_path / "missing" / "graph.fst")


@pytest.mark.parametrize(
    ("text", "is_sentence"), [("turn on", True), ("turn", False), ("on turn", False), ("turn on 5", False), ("", False)]
)
def test_a_language_tells_its_sentences(speller: Speller, text: str, is_sentence: bool):
    assert build_language(or_any_speech(sentences(["turn on"])), speller).accepts(text) == is_sentence


@pytest.mark.parametrize("name", ["token", "word", "any_speech", "any_token"])
@pytest.mark.parametrize("value", [float("nan"), 101.0])
def test_costs_out_of_range_are_refused(name: str, value: float):
    with pytest.raises(ConfigurationError, match=f"the cost {name} = {value}"):
        Costs(**{name: value})


def test_a_graph_that_grows_too_large_is_refused(monkeypatch, speller: Speller):
    monkeypatch.setattr(graph_module, "MOST_ARCS", 10)
    with pytest.raises(ConfigurationError, match="the decoding graph needs more than 10 arcs; split the grammar"):
        build_language(word_loop(["one", "two"]), speller)
