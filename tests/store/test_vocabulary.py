from __future__ import annotations

import pytest

from edge_asr.errors import ModelDamaged
from edge_asr.families import FAMILIES
from edge_asr.store.model_header import FLOAT, OnnxHeader, TensorShape
from edge_asr.store.vocabulary import check_vocabulary


def header(*, vocab_size: str = "", scores: int | str = "V") -> OnnxHeader:
    metadata = {"vocab_size": vocab_size} if vocab_size else {}
    return OnnxHeader(kind="onnx", metadata=metadata, outputs=(TensorShape("scores", FLOAT, ("N", scores)),))


def check(family: str, headers: dict[str, OnnxHeader], symbols: list[str]) -> None:
    check_vocabulary("m", FAMILIES[family], headers, "tokens.txt", symbols)


NEMO = {"encoder": header(vocab_size="2"), "decoder": header(), "joiner": header(scores=3)}


def test_a_nemo_transducer_has_one_token_more_than_it_states_and_the_blank_last() -> None:
    check("nemo-transducer-streaming", NEMO, ["a", "b", "<blk>"])


@pytest.mark.parametrize(
    ("symbols", "reason"),
    [
        (["a", "<blk>"], "has 2 tokens and the model has 3"),
        (["<blk>", "a", "b"], "has 'b' as its last symbol instead of '<blk>'"),
        (["a", "b", "<blank>"], "has '<blank>' as its last symbol"),
    ],
)
def test_a_nemo_transducer_with_other_tokens_is_refused(symbols: list[str], reason: str) -> None:
    with pytest.raises(ModelDamaged, match=reason):
        check("nemo-transducer-streaming", NEMO, symbols)


def test_the_scores_count_and_not_what_the_metadata_says() -> None:
    headers = {"encoder": header(), "decoder": header(vocab_size="9"), "joiner": header(scores=2)}
    check("zipformer2-transducer", headers, ["<blk>", "a"])
    with pytest.raises(ModelDamaged, match="has 9 tokens and the model has 2"):
        check("zipformer2-transducer", headers, ["<blk>", *"abcdefgh"])


def test_the_metadata_count_where_the_scores_vary() -> None:
    headers = {"encoder": header(), "decoder": header(vocab_size="3"), "joiner": header()}
    with pytest.raises(ModelDamaged, match="has 2 tokens and the model has 3"):
        check("zipformer2-transducer", headers, ["<blk>", "a"])


@pytest.mark.parametrize("stated", ["1", "2"])
def test_nemo_ctc_models_state_their_vocabulary_with_or_without_the_blank(stated: str) -> None:
    check("nemo-ctc-streaming", {"model": header(vocab_size=stated)}, ["a", "<blk>"])


@pytest.mark.parametrize("family", ["zipformer2-ctc", "wenet-ctc-streaming", "wenet-ctc"])
def test_the_blank_of_a_ctc_model_from_icefall_or_wenet_is_the_first(family: str) -> None:
    check(family, {"model": header(scores=2)}, ["<blk>", "a"])
    with pytest.raises(ModelDamaged, match="has the blank symbol at 1 instead of 0"):
        check(family, {"model": header(scores=2)}, ["a", "<blk>"])


def test_a_paraformer_needs_its_end_symbol() -> None:
    with pytest.raises(ModelDamaged, match="has no '</s>'"):
        check("paraformer", {"model": header(vocab_size="2")}, ["<blank>", "a"])


def test_moonshine_symbols_are_base64_or_empty() -> None:
    check("moonshine", {"encoder": header(), "decoder": header(scores=3)}, ["YQ==", " ", "PHVuaz4="])


@pytest.mark.parametrize("symbol", ["▁one", "YQ", "YQ=", "a-_b", "<blk>"])
def test_other_moonshine_symbols_are_refused(symbol: str) -> None:
    with pytest.raises(ModelDamaged, match="at 1; the symbols of a moonshine are in base64"):
        check("moonshine", {"encoder": header(), "decoder": header(scores=2)}, ["YQ==", symbol])


def test_a_whisper_need_not_name_every_token() -> None:
    check("whisper", {"encoder": header(), "decoder": header(scores=51864)}, ["YQ=="])
