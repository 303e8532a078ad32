"""Non-streaming models behind guards; the contract suite holds for them in the segmented engine."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import sherpa_onnx

from edge_asr.engines import sherpa_segment
from edge_asr.engines.providers import ProviderChoice
from edge_asr.engines.registry import load_segment_decoder
from edge_asr.engines.sherpa_segment import SherpaSegmentDecoder, factory_arguments
from edge_asr.engines.whole_stretch import loud_part_s, spread
from edge_asr.errors import ConfigurationError, EngineFailed, ModelDamaged
from edge_asr.families import FAMILIES
from edge_asr.settings import EngineSettings
from tests.support import tiny_models
from tests.support.engine_cases import clip, noise, silence
from tests.support.fetched_models import fetched_model

SEGMENT = [family for family in FAMILIES.values() if family.kind == "segment"]
RATE = 16_000


class Recorder:
    """Stands in for the native recogniser, its streams and their result."""

    def __init__(self, text: str = " two words", **result) -> None:
        self.decoded_samples: list[int] = []
        self.error: Exception | None = None
        given = {"text": text, "tokens": [], "timestamps": [], "ys_log_probs": []} | result
        self.result = SimpleNamespace(**given)

    def create_stream(self) -> Recorder:
        return self

    def accept_waveform(self, rate: int, samples: list[float]) -> None:
        assert rate == RATE
        self.decoded_samples.append(len(samples))

    def decode_stream(self, _stream: object) -> None:
        if self.error:
            raise self.error


class Padded(Recorder):
    """Says something else for each amount of padding, as a loop is cured by it."""

    def __init__(self, samples: int, texts: dict[float, str]) -> None:
        super().__init__()
        self._texts = {samples + 2 * round(padding_s * RATE): text for padding_s, text in texts.items()}

    def accept_waveform(self, rate: int, samples: list[float]) -> None:
        super().accept_waveform(rate, samples)
        self.result.text = self._texts[len(samples)]


@pytest.fixture
def recorder() -> Recorder:
    return Recorder()


@pytest.fixture
def decoder(recorder) -> SherpaSegmentDecoder:
    return SherpaSegmentDecoder(recorder, RATE, 30.0)


@pytest.mark.parametrize("family", SEGMENT, ids=lambda family: family.name)
def test_every_argument_is_one_the_factory_takes(family):
    factory = getattr(sherpa_onnx.OfflineRecognizer, family.factory)
    arguments = factory_arguments(family, {role: Path(role) for role in family.roles}, ("en",))
    code = factory.__func__.__code__
    assert {*arguments, "num_threads", "provider"} <= set(code.co_varnames[: code.co_argcount])


@pytest.mark.parametrize(("languages", "passed"), [(("de",), "de"), (("de", "en"), ""), ((), "")])
@pytest.mark.parametrize("name", ["whisper", "sense-voice"])
def test_the_language_is_passed_where_there_is_only_one(name, languages, passed):
    family = FAMILIES[name]
    assert factory_arguments(family, {role: Path(role) for role in family.roles}, languages)["language"] == passed


@pytest.mark.parametrize("family", SEGMENT, ids=lambda family: family.name)
def test_the_families_own_factory_is_called(family, tmp_path, monkeypatch):
    called: list[dict[str, object]] = []

    def factory(**arguments: object) -> Recorder:
        called.append(arguments)
        return Recorder()

    monkeypatch.setattr(sherpa_onnx, "OfflineRecognizer", SimpleNamespace(**{family.factory: factory}))
    files = {role: tmp_path / role for role in family.roles}
    for path in files.values():
        path.touch()
    manifest = tiny_models.tiny_manifest(family.name, files)
    decoder, choice = sherpa_segment.load_segment_decoder(
        tmp_path, manifest, family, EngineSettings(threads=2), ProviderChoice("cpu")
    )
    assert choice.provider == "cpu"
    assert called[0]["num_threads"] == 2
    assert {str(path) for path in files.values()} <= set(map(str, called[0].values()))
    assert decoder.max_segment_s == 30.0


def test_beam_search_is_refused(tmp_path):
    files = tiny_models.write_nemo_ctc_offline(tmp_path)
    manifest = tiny_models.tiny_manifest("nemo-ctc", files)
    with pytest.raises(ConfigurationError, match="set it to 'greedy_search'"):
        load_segment_decoder(tmp_path, manifest, EngineSettings(decoding_method="modified_beam_search"))


def test_a_missing_file_is_named(tmp_path):
    files = tiny_models.write_nemo_ctc_offline(tmp_path)
    files["model"].unlink()
    with pytest.raises(ModelDamaged, match=r"the model file .*model.onnx is missing"):
        load_segment_decoder(tmp_path, tiny_models.tiny_manifest("nemo-ctc", files), EngineSettings())


@pytest.mark.parametrize(
    "samples",
    [
        silence(0, RATE),
        silence(3, RATE),
        noise(0.05, RATE),
        noise(3, RATE, rms=1e-3),
        np.full(3 * RATE, 0.6, np.float32),
    ],
    ids=["nothing", "digital silence", "50 ms", "noise of rms 0.001", "a constant offset"],
)
def test_what_cannot_be_speech_never_reaches_the_model(decoder, recorder, samples):
    hypothesis = decoder.decode(samples)
    assert (hypothesis.text, hypothesis.tokens, hypothesis.decoded_samples) == ("", (), len(samples))
    assert recorder.decoded_samples == []


def test_short_speech_is_given_silence_around_it(decoder, recorder):
    hypothesis = decoder.decode(noise(0.2, RATE))
    assert recorder.decoded_samples == [8_000]
    assert hypothesis.decoded_samples == 3_200
    assert all(0 <= token.start_s < 0.2 for token in hypothesis.tokens)


def test_longer_speech_is_given_as_it_is(decoder, recorder):
    decoder.decode(noise(2.0, RATE))
    assert recorder.decoded_samples == [32_000]


def test_more_than_the_model_takes_is_refused_with_the_limit(decoder):
    with pytest.raises(ValueError, match=r"31\.0 s of speech; this model takes 30 s at once"):
        decoder.decode(noise(31.0, RATE))


def test_a_constraint_is_refused(decoder):
    class Anything:
        def allowed(self, prefix: tuple[int, ...]) -> list[int]:
            return []

    with pytest.raises(ValueError, match="no constraint"):
        decoder.decode(noise(1.0, RATE), Anything())


def test_samples_that_are_no_numbers_are_silence(decoder, recorder):
    decoder.decode(np.full(RATE, np.nan, np.float32))
    assert recorder.decoded_samples == []


def test_an_error_of_the_native_engine_is_one_of_ours(decoder, recorder):
    recorder.error = RuntimeError("Non-zero status code")
    with pytest.raises(EngineFailed, match="Non-zero status code"):
        decoder.decode(noise(1.0, RATE))


def test_words_without_times_are_spread_over_the_loud_part(decoder):
    samples = np.concatenate([silence(1, RATE), noise(2, RATE), silence(1, RATE)])
    starts = [token.start_s for token in decoder.decode(samples).tokens]
    assert starts == pytest.approx([0.99, 0.99 + 2.03 * 3 / 8], abs=0.05)


def test_times_of_the_model_are_kept():
    recorder = Recorder(tokens=["▁two", "▁words"], timestamps=[0.5, 1.25], ys_log_probs=[-0.5, 0.1])
    tokens = SherpaSegmentDecoder(recorder, RATE, 30.0).decode(noise(2.0, RATE)).tokens
    assert [(token.start_s, token.log_prob) for token in tokens] == [(0.5, -0.5), (1.25, 0.0)]


def test_tokens_that_are_parts_of_characters_are_replaced_by_words():
    class Bytes(SimpleNamespace):
        @property
        def tokens(self) -> list[str]:
            raise UnicodeDecodeError("utf-8", b"\xe2", 0, 1, "unexpected end of data")

    recorder = Recorder()
    recorder.result = Bytes(text=" ten €", timestamps=[], ys_log_probs=[])
    hypothesis = SherpaSegmentDecoder(recorder, RATE, 30.0).decode(noise(2.0, RATE))
    assert [token.text for token in hypothesis.tokens] == [" ten", " €"]


def test_a_text_that_ends_within_a_character_is_lost_and_said_so(caplog):
    class Cut(SimpleNamespace):
        @property
        def text(self) -> str:
            raise UnicodeDecodeError("utf-8", b"\xe2", 0, 1, "unexpected end of data")

    recorder = Recorder()
    recorder.result = Cut(tokens=[], timestamps=[], ys_log_probs=[])
    assert SherpaSegmentDecoder(recorder, RATE, 30.0).decode(noise(2.0, RATE)).text == ""
    assert "within a character" in caplog.text


def test_texts_are_spread_by_their_length():
    assert spread([" a", " bcd"], 1.0, 3.0) == pytest.approx([1.0, 1.5])
    assert spread([], 1.0, 3.0) == []


def test_a_model_that_hears_nothing_gives_no_tokens():
    hypothesis = SherpaSegmentDecoder(Recorder(text=""), RATE, 30.0).decode(noise(2.0, RATE))
    assert (hypothesis.text, hypothesis.tokens) == ("", ())


def test_the_loud_part_of_silence_is_all_of_it():
    assert loud_part_s(silence(1.024, RATE), RATE) == pytest.approx((0.0, 1.024))


def test_a_real_model_of_ten_kilobytes_is_decoded(tmp_path):
    files = tiny_models.write_nemo_ctc_offline(tmp_path)
    decoder, _ = load_segment_decoder(tmp_path, tiny_models.tiny_manifest("nemo-ctc", files), EngineSettings())
    hypothesis = decoder.decode(np.concatenate([silence(1, RATE), noise(0.4, RATE), silence(1, RATE)]))
    assert hypothesis.text == "two three four one two three four one two three"
    assert [token.start_s for token in hypothesis.tokens][:2] == pytest.approx([1.0, 1.04], abs=0.05)


@pytest.mark.model
def test_moonshine_says_nothing_about_what_is_no_speech():
    model = fetched_model("moonshine-tiny-en")
    decoder, _ = load_segment_decoder(model.directory, model.manifest, EngineSettings())
    nothing = [silence(0, RATE), silence(2, RATE), noise(0.01, RATE), noise(2, RATE, rms=1e-3)]
    assert [decoder.decode(samples).text for samples in nothing] == [""] * 4


@pytest.mark.model
def test_moonshine_hears_a_clipped_recording():
    model = fetched_model("moonshine-tiny-en")
    decoder, _ = load_segment_decoder(model.directory, model.manifest, EngineSettings())
    assert decoder.decode(50 * clip("go-forward")).text.lower().startswith("go forward")


LOOP = "to be " * 20


def test_a_model_that_repeats_itself_is_asked_again_with_silence_around():
    recorder = Padded(2 * RATE, {0.0: LOOP, 0.25: "to be or not to be"})
    hypothesis = SherpaSegmentDecoder(recorder, RATE, 30.0, may_loop=True).decode(noise(2.0, RATE))
    assert hypothesis.text == "to be or not to be"
    assert recorder.decoded_samples == [2 * RATE, 2.5 * RATE]
    assert all(0.0 <= token.start_s < 2.0 for token in hypothesis.tokens)


def test_a_loop_that_nothing_cures_is_said_once():
    recorder = Padded(2 * RATE, {0.0: LOOP, 0.25: LOOP, 0.5: "or not " + LOOP})
    hypothesis = SherpaSegmentDecoder(recorder, RATE, 30.0, may_loop=True).decode(noise(2.0, RATE))
    assert hypothesis.text == "or not to be"
    assert [token.text for token in hypothesis.tokens] == [" or", " not", " to", " be"]


def test_what_a_model_repeats_that_only_hears_stays():
    recorder = Padded(2 * RATE, {0.0: LOOP})
    assert SherpaSegmentDecoder(recorder, RATE, 30.0).decode(noise(2.0, RATE)).text == LOOP.strip()


def test_silence_against_loops_never_makes_the_stretch_too_long():
    recorder = Padded(2 * RATE, {0.0: LOOP, 0.1: "to be"})
    SherpaSegmentDecoder(recorder, RATE, 2.2, may_loop=True).decode(noise(2.0, RATE))
    assert recorder.decoded_samples[1] == round(2.2 * RATE)


@pytest.mark.parametrize(("duration_s", "given_s"), [(2.0, 2.35), (29.9, 30.0), (30.0, 30.0)])
def test_silence_closes_a_stretch_as_far_as_there_is_room(recorder, duration_s, given_s):
    decoder = SherpaSegmentDecoder(recorder, RATE, 30.0, closing_silence_s=0.35)
    assert decoder.decode(noise(duration_s, RATE)).decoded_samples == round(duration_s * RATE)
    assert recorder.decoded_samples == [round(given_s * RATE)]


@pytest.mark.model
def test_moonshine_says_a_command_once_that_sent_it_into_a_loop():
    model = fetched_model("moonshine-tiny-en")
    decoder, _ = load_segment_decoder(model.directory, model.manifest, EngineSettings())
    assert decoder.decode(clip("set-the-temperature-to-joe")).text.rstrip(".,") == "Set the temperature to 25%"


def test_what_sense_voice_says_besides_words_are_tags():
    said = {"lang": "<|zh|>", "emotion": "<|NEUTRAL|>", "event": "<|Speech|>"}
    decoder = SherpaSegmentDecoder(Recorder(**said), RATE, 30.0, has_tags=True)
    assert decoder.decode(noise(1.0, RATE)).tags == {"language": "zh", "emotion": "NEUTRAL", "event": "Speech"}


def test_other_families_have_no_tags(decoder):
    assert decoder.decode(noise(1.0, RATE)).tags == {}


def test_the_text_before_the_rules_is_what_the_tokens_say():
    recorder = Recorder("25 个", tokens=["二", "十", "五", "个"])
    found = SherpaSegmentDecoder(recorder, RATE, 30.0, has_rules=True).decode(noise(1.0, RATE))
    assert (found.text, found.raw_text) == ("25 个", "二十五个")


def test_rules_are_refused_where_tokens_do_not_tell_what_was_heard(tmp_path):
    files = {role: tmp_path / role for role in FAMILIES["moonshine"].roles}
    for path in files.values():
        path.touch()
    manifest = tiny_models.tiny_manifest("moonshine", files)
    with pytest.raises(ConfigurationError, match=r"use text\.itn"):
        load_segment_decoder(tmp_path, manifest, EngineSettings(rule_fsts=("a.fst",)))
