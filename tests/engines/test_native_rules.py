"""Rules of the native engine: looked at before it gets them, and the text before them is kept."""

from __future__ import annotations

from pathlib import Path

import kaldifst
import pytest

from edge_asr.engines.base import Hypothesis, StreamOptions
from edge_asr.engines.native_rules import has_rules, rule_arguments
from edge_asr.engines.registry import load_engine
from edge_asr.errors import ConfigurationError
from edge_asr.settings import EngineSettings
from tests.support import tiny_models
from tests.support.engine_cases import feed, noise


def write_rule(path: Path, said: str, written: str) -> Path:
    """One word rewritten wherever it stands; every other byte stays, for a price."""
    arcs = [f"0 0 {byte} {byte} 1" for byte in range(1, 256)]
    for at, char in enumerate(said.encode()):
        target = 0 if at == len(said) - 1 else at + 1
        arcs.append(f"{at} {target} {char} {written.encode()[at] if at < len(written) else 0} 0")
    kaldifst.compile("\n".join([*arcs, "0"]), acceptor=False).write(str(path))
    return path


@pytest.fixture
def rule(tmp_path: Path) -> Path:
    return write_rule(tmp_path / "digits.fst", "one", "1")


def heard(folder: Path, settings: EngineSettings) -> Hypothesis:
    files = tiny_models.write_lstm_transducer(folder)
    engine = load_engine(folder, tiny_models.tiny_manifest("lstm-transducer", files), settings)
    assert engine.describe().is_append_only is not has_rules(settings)
    stream = engine.open_stream(StreamOptions())
    feed(engine, stream, noise(1.0, 16_000), 1600)
    return stream.hypothesis()


@pytest.mark.model
def test_the_text_before_the_rules_is_kept(tmp_path: Path, rule: Path) -> None:
    found = heard(tmp_path, EngineSettings(rule_fsts=(str(rule),)))
    assert found.text.split()[:3] == ["1", "two", "three"]
    assert found.raw_text is not None
    assert found.raw_text.split()[:3] == ["one", "two", "three"]


@pytest.mark.model
def test_without_rules_there_is_one_text(tmp_path: Path) -> None:
    assert heard(tmp_path, EngineSettings()).raw_text is None


def test_files_are_passed_on_in_their_order(tmp_path: Path, rule: Path) -> None:
    second = write_rule(tmp_path / "more.fst", "two", "2")
    assert rule_arguments(EngineSettings(rule_fsts=(str(rule), str(second)))) == {"rule_fsts": f"{rule},{second}"}


def test_homophones_need_both_files(tmp_path: Path, rule: Path) -> None:
    lexicon = tmp_path / "lexicon.txt"
    lexicon.write_text("你好 ni3 hao3\n", encoding="utf-8")
    both = EngineSettings(hr_lexicon=str(lexicon), hr_rule_fsts=str(rule))
    assert rule_arguments(both) == {"hr_lexicon": str(lexicon), "hr_rule_fsts": str(rule)}
    with pytest.raises(ConfigurationError, match="hr_rule_fsts"):
        rule_arguments(EngineSettings(hr_lexicon=str(lexicon)))


@pytest.mark.parametrize("contents", [b"", b"<html>"])
def test_what_is_no_file_of_rules_never_reaches_the_engine(tmp_path: Path, contents: bytes) -> None:
    path = tmp_path / "rules.fst"
    path.write_bytes(contents)
    with pytest.raises(ConfigurationError, match=r"rules\.fst is no file of rules"):
        rule_arguments(EngineSettings(rule_fsts=(str(path),)))


def test_a_file_that_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"engine\.rule_fars: .*gone\.far cannot be read"):
        rule_arguments(EngineSettings(rule_fars=(str(tmp_path / "gone.far"),)))


def test_a_comma_would_be_taken_for_two_files() -> None:
    with pytest.raises(ConfigurationError, match="comma"):
        rule_arguments(EngineSettings(rule_fsts=("a,b.fst",)))
