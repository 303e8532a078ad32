"""The real Moonshine under constraints."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import soundfile

import edge_asr
from edge_asr.audio import Float32Array
from edge_asr.commands.constraint import NetworkConstraint
from edge_asr.commands.phrase_bias import VocabularySpeller
from edge_asr.commands.templates import read_templates
from edge_asr.commands.token_trie import build_trie
from edge_asr.engines.base import Following, Hotword, OpenEnded
from edge_asr.engines.base64_vocabulary import read_vocabulary
from edge_asr.engines.ort_constrained import ConstrainedDecoder, load_constrained_decoder
from edge_asr.errors import ModelDamaged, ModelUnsupported
from edge_asr.settings import EngineSettings
from tests.support import tiny_models
from tests.support.fetched_models import fetched_model

CLIPS = Path(edge_asr.__file__).parent / "clips"


@pytest.fixture(scope="module")
def decoder() -> ConstrainedDecoder:
    model = fetched_model("moonshine-tiny-en")
    return load_constrained_decoder(model.directory, model.manifest, EngineSettings())


def constraint(decoder: ConstrainedDecoder, *sentences: str) -> NetworkConstraint:
    templates = f"intents: {{Go: {{data: [{{sentences: {list(sentences)}}}]}}}}"
    return NetworkConstraint(read_templates({"test": templates}).network, build_trie(decoder.vocabulary))


def samples(name: str) -> Float32Array:
    heard: Float32Array = soundfile.read(CLIPS / name, dtype="float32")[0]
    return heard


@pytest.mark.model
def test_what_is_said_is_found_among_sentences(decoder):
    found = decoder.decode(samples("go-forward.flac"), constraint(decoder, "go forward [ten] meters", "turn left"))
    assert found.path is not None
    assert found.path.text.lower().strip(".") in ("go forward 10 meters", "go forward ten meters")
    assert found.path.log_prob == pytest.approx(found.path.open_log_prob, abs=3)


@pytest.mark.model
def test_a_sentence_that_was_not_said_is_much_less_likely_than_the_free_text(decoder):
    found = decoder.decode(samples("go-forward.flac"), constraint(decoder, "open the garage door"))
    assert found.path is not None
    assert found.path.log_prob < found.path.open_log_prob - 10
    assert "forward" in found.text.lower()


@pytest.mark.model
def test_the_free_text_does_not_depend_on_the_constraint(decoder):
    heard = samples("go-forward.flac")
    under = decoder.decode(heard, constraint(decoder, "turn left"))
    free = decoder.decode(heard)
    assert (under.text, free.path) == (free.text, None)


@pytest.mark.model
def test_tokens_have_times_within_the_speech(decoder):
    heard = samples("go-forward.flac")
    path = decoder.decode(heard, constraint(decoder, "go forward ten meters")).path
    assert path is not None
    starts = [token.start_s for token in path.tokens]
    assert starts == sorted(starts)
    assert 0 <= starts[0] < starts[-1] < len(heard) / 16_000


@pytest.mark.model
@pytest.mark.parametrize("seconds", [0, 0.01, 1])
def test_silence_is_nothing(decoder, seconds):
    found = decoder.decode(np.zeros(round(16_000 * seconds), np.float32), constraint(decoder, "turn left"))
    assert (found.text, found.path) == ("", None)


class Repeating:
    """Says one token for ever, as the model does over an open stretch now and then."""

    begin, end = 0, 1

    def hear(self, _samples):
        return self

    def step(self, _parents, tokens):
        scores = np.full((len(tokens), 4), -30.0, np.float32)
        scores[:, 2] = 0.0
        return scores

    def most_tokens(self, _samples):
        return 40


class Anything:
    def begin(self):
        return 0

    def following(self, _state):
        return Following(np.array([2], np.int64), np.array([0], np.int64))

    def may_end(self, _state):
        return True


def test_what_is_repeated_for_ever_is_said_once_and_is_no_command():
    decoder = ConstrainedDecoder(Repeating(), ("", "", " five", ","), 16_000)
    noise = np.random.default_rng(0).normal(0, 0.1, 16_000).astype(np.float32)
    found = decoder.decode(noise, OpenEnded(Anything()))
    assert (found.text, len(found.tokens)) == ("five", 1)
    assert found.path is None or found.path.text == "five"


@pytest.mark.model
def test_a_phrase_that_is_expected_is_heard(decoder):
    speller = VocabularySpeller(build_trie(decoder.vocabulary), decoder.vocabulary)
    heard = samples("set-the-terrace-coffee-michael.flac")
    bias = speller.bias([Hotword(speller.spell("terrace"), 1.5)])
    assert "Terrace" not in decoder.decode(heard).text
    assert "Terrace" in decoder.decode_biased(heard, bias).text


@pytest.mark.model
def test_a_phrase_that_was_not_said_changes_nothing(decoder):
    speller = VocabularySpeller(build_trie(decoder.vocabulary), decoder.vocabulary)
    heard = samples("go-forward.flac")
    bias = speller.bias([Hotword(speller.spell("garage door"), 1.5)])
    assert decoder.decode_biased(heard, bias) == decoder.decode(heard)


def test_other_families_are_refused(tmp_path):
    files = tiny_models.write_nemo_ctc_offline(tmp_path)
    with pytest.raises(ModelUnsupported, match="models of the family moonshine"):
        load_constrained_decoder(tmp_path, tiny_models.tiny_manifest("nemo-ctc", files), EngineSettings())


def test_a_vocabulary_is_read_with_spaces_and_without_bytes(tmp_path):
    # <unk>, "▁the", the byte 0xE2, "a" as a byte and again as a piece
    symbols = ["PHVuaz4=", "4paBdGhl", "4g==", "YQ==", "YQ=="]
    tokens = tmp_path / "tokens.txt"
    tokens.write_text("".join(f"{symbol} {number}\n" for number, symbol in enumerate(symbols)), encoding="ascii")
    assert read_vocabulary(tokens, "m") == ("", " the", "", "", "a")


def test_a_vocabulary_that_is_not_base64_is_damaged(tmp_path):
    (tmp_path / "tokens.txt").write_text("the 0\n", encoding="ascii")
    with pytest.raises(ModelDamaged, match="no symbol in base64"):
        read_vocabulary(tmp_path / "tokens.txt", "m")
