"""Hotwords as the native engine gets them, and what it makes of them on real speech."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from edge_asr.commands.phrase_spelling import read_phrase_speller
from edge_asr.engines.base import Hotword, StreamOptions
from edge_asr.engines.hotword_tokens import native_hotwords, token_table
from edge_asr.engines.registry import load_engine
from edge_asr.families import FAMILIES
from edge_asr.manifest import MANIFEST_FILE, read_manifest
from edge_asr.settings import EngineSettings
from tests.support.engine_cases import STARTER, clip, decode_ready, text_of

TRANSDUCER = STARTER.parent / "starter-en-transducer"
TOKENS = 128
BEAM = EngineSettings(decoding_method="modified_beam_search", batch_int8=True)

hotwords = st.builds(
    Hotword,
    st.lists(st.integers(1, TOKENS - 1), min_size=1, max_size=12).map(tuple),
    st.floats(0.1, 20),
)


def load(engine_settings: EngineSettings):
    return load_engine(TRANSDUCER, read_manifest(TRANSDUCER / MANIFEST_FILE), engine_settings)


@pytest.fixture(scope="module")
def engine():
    return load(BEAM)


def expecting(*phrases: str) -> StreamOptions:
    speller = read_phrase_speller(TRANSDUCER / "tokens.txt", TRANSDUCER / "bpe.model")
    return StreamOptions(hotwords=tuple(Hotword(speller.spell(phrase), 2.0) for phrase in phrases))


def test_every_token_has_a_second_name_behind_its_first():
    original = (TRANSDUCER / "tokens.txt").read_text(encoding="utf-8")
    with token_table(TRANSDUCER / "tokens.txt", with_names=True) as table:
        lines = table.path.read_text(encoding="utf-8").removeprefix(original).split("\n")
    assert table.named == TOKENS
    assert [line for line in lines if line] == [f"{chr(0xF0000 + number)} {number}" for number in range(TOKENS)]


def test_models_that_take_none_keep_their_own_table():
    with token_table(Path("tokens.txt"), with_names=False) as table:
        assert (table.path, table.named) == (Path("tokens.txt"), 0)


@pytest.mark.parametrize("tokens", [(), (TOKENS,), (1, -1)])
def test_what_is_no_token_never_reaches_the_engine(engine, tokens):
    with pytest.raises(ValueError, match=r"are no tokens of a vocabulary of 128"):
        engine.open_stream(StreamOptions(hotwords=(Hotword(tokens, 1.0),)))


def test_tokens_and_boosts_are_written_for_the_engine():
    several = (Hotword((1, 2), 1.5), Hotword((3,), 2.0))
    assert native_hotwords(several, 4) == "\U000f0001\U000f0002 :1.500000/\U000f0003 :2.000000"


@pytest.mark.parametrize(
    ("recording", "phrase", "without", "heard"),
    [
        ("set-an-alarm-for-joe", "an alarm", "set amalarm", "set an alarm"),
        ("austen-0890", "hearted", "called hard", "called hearted"),
    ],
)
def test_a_phrase_that_is_misheard_is_heard_when_it_is_expected(engine, recording, phrase, without, heard):
    speech = clip(recording)
    assert without in text_of(engine, speech, 5000)
    assert heard in text_of(engine, speech, 5000, expecting(phrase))


def test_hotwords_of_one_stream_are_not_those_of_another_in_the_same_step(engine):
    streams = [engine.open_stream(options) for options in (StreamOptions(), expecting("rather"), StreamOptions())]
    for stream in streams:
        stream.accept(clip("austen-0890"))
        stream.finish()
    decode_ready(engine, streams)
    assert ["rather call" in stream.hypothesis().text for stream in streams] == [False, True, False]


def test_text_is_written_with_the_models_own_tokens(engine):
    stream = engine.open_stream(expecting("coffee machine"))
    stream.accept(clip("pick-up-the-box-george"))
    stream.finish()
    decode_ready(engine, [stream])
    assert "".join(token.text for token in stream.hypothesis().tokens).strip() == "pick up the box"


@settings(max_examples=30, deadline=None)
@given(several=st.lists(hotwords, max_size=30))
def test_no_list_of_tokens_ends_the_process(engine, several):
    stream = engine.open_stream(StreamOptions(hotwords=tuple(several)))
    stream.accept(clip("five-five"))
    stream.finish()
    decode_ready(engine, [stream])
    assert stream.hypothesis().decoded_samples == len(clip("five-five"))


@pytest.mark.parametrize("family", [family for family in FAMILIES.values() if not family.model_type])
def test_families_without_a_beam_search_of_tokens_say_so(family):
    assert family.why_no_hotwords("modified_beam_search") == "its decoder cannot be biased towards words"


def test_greedy_decoding_says_what_hotwords_need_and_refuses_them():
    greedy = load(replace(BEAM, decoding_method="greedy_search"))
    assert "modified_beam_search" in greedy.describe().why_no_hotwords
    with pytest.raises(ValueError, match="modified_beam_search"):
        greedy.open_stream(expecting("rather"))
