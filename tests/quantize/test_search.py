from pathlib import Path

import msgspec
import pytest

from edge_asr.quantize import search as search_module
from edge_asr.quantize.document import Point
from edge_asr.quantize.progress import Silence
from edge_asr.quantize.search import Search
from edge_asr.quantize.sensitivity import Ear
from edge_asr.quantize.targets import TARGETS
from edge_asr.quantize.workshop import Made, Workshop
from edge_asr.store.store import InstalledModel
from tests.support.engine_cases import noise, silence
from tests.support.tiny_products import write_model


class Limit:
    """Accepts what diverges little, and remembers what it was asked."""

    def __init__(self, ear: Ear, limit: float) -> None:
        self.ear, self.limit = ear, limit
        self.asked: list[str] = []

    def judge(self, made: Made) -> Point:
        self.asked.append(made.name)
        graphs = {role: made.candidate.directory / f"{role}.onnx" for role in ("encoder", "decoder", "joiner")}
        harm = self.ear.compare(graphs).harm
        verdict = "within" if harm <= self.limit else "over"
        return Point(name=made.name, verdict=verdict, size_bytes=made.graph_bytes, nodes={})  # type: ignore[arg-type]


class Table:
    """A search over a tiny model."""

    def __init__(self, folder: Path, *, sabotaged: bool, limit: float) -> None:
        original = InstalledModel(write_model(folder / "model", sabotaged=sabotaged), folder / "model")
        self.workshop = Workshop(original, folder / "candidates")
        audio = [silence(0.5, 16_000), noise(0.5, 16_000)]
        ear = Ear(self.workshop, audio, audio, folder / "steps")
        self.judge = Limit(ear, limit)
        self.search = Search(
            self.workshop, ear, TARGETS["x86"], self.judge, folder / "sensitivity", Silence(), kept=("decoder",)
        )


def test_everything_is_quantized_where_nothing_is_lost(tmp_path: Path):
    table = Table(tmp_path, sabotaged=False, limit=0.01)
    found = table.search.run()
    assert len(table.judge.asked) == 1
    assert [made.name for made in found.accepted] == table.judge.asked
    assert "fp32" not in found.assignments[table.judge.asked[0]].values()


def test_the_node_that_cannot_bear_it_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(search_module, "RESCUES", ())
    table = Table(tmp_path, sabotaged=True, limit=0.01)
    found = table.search.run()
    smallest = min(found.accepted, key=lambda made: made.graph_bytes)
    assert found.harms["encoder", "/second/MatMul"]["int8"].harm > 0.1
    assert found.assignments[smallest.name]["encoder", "/first/MatMul"] != "fp32"
    assert found.assignments[smallest.name].get(("encoder", "/second/MatMul")) != "int8"


def test_the_same_is_found_again_without_measuring_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    first = Table(tmp_path, sabotaged=True, limit=0.01).search.run()
    again = Table(tmp_path, sabotaged=True, limit=0.01)

    def refuse(*_args, **_kwargs):
        raise AssertionError("a node was measured although it is known")

    monkeypatch.setattr("edge_asr.quantize.sensitivity.apply_assignment", refuse)
    second = again.search.run()
    assert second.assignments == first.assignments
    assert second.harms == first.harms


def test_refused_candidates_leave_no_files(tmp_path: Path):
    table = Table(tmp_path, sabotaged=True, limit=0.01)
    found = table.search.run()
    assert len(table.judge.asked) > len(found.accepted)
    left = {path.name for path in (tmp_path / "candidates").iterdir()}
    assert left == {made.name for made in found.accepted}


def test_a_rescue_that_helps_is_kept_and_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    # Without weight-only choices nothing but smoothing can carry the search over the sabotaged node.
    monkeypatch.setattr("edge_asr.quantize.sensitivity._FIRST", ("int8",))
    monkeypatch.setattr("edge_asr.quantize.sensitivity._SECOND", ())
    table = Table(tmp_path, sabotaged=True, limit=0.05)
    found = table.search.run()
    assert found.treatment.smooths
    assert any("evened out" in sentence for sentence in found.rescues)
    accepted = [found.assignments[made.name] for made in found.accepted]
    assert any(chosen.get(("encoder", "/second/MatMul")) == "int8" for chosen in accepted)


def test_models_behind_the_usual_int8_are_kept_in_reserve_and_the_search_goes_on(tmp_path: Path):
    table = Table(tmp_path, sabotaged=False, limit=1.0)
    judge = table.search._judge

    class Strict:
        def judge(self, made: Made) -> Point:
            point = judge.judge(made)
            fewer = list(table.search.found.assignments[made.name].values()).count("weight4") < 2
            return msgspec.structs.replace(point, verdict="within" if fewer else "behind")

    table.search._judge = Strict()
    found = table.search.run()
    assert found.behind
    assert found.accepted
    assert all((tmp_path / "candidates" / made.name).is_dir() for made in (*found.behind, *found.accepted))
