import tempfile
from pathlib import Path

import pytest

from edge_asr.errors import ConfigurationError, MachineError
from edge_asr.manifest import MANIFEST_FILE, read_manifest
from edge_asr.quantize.document import FILE
from edge_asr.quantize.output import require_writable, work_folder, working_on, write_model, write_text
from edge_asr.quantize.progress import Silence
from edge_asr.quantize.workshop import Made, Workshop
from edge_asr.store.store import InstalledModel
from tests.support.tiny_products import write_model as write_tiny

ORIGINAL = Path("/models/original")


@pytest.fixture
def made(tmp_path: Path) -> Made:
    original = InstalledModel(write_tiny(tmp_path / "sound"), tmp_path / "sound")
    return Workshop(original, tmp_path / "work").make("int8", {})


class Hearing(Silence):
    def __init__(self) -> None:
        self.said: list[str] = []

    def say(self, sentence: str) -> None:
        self.said.append(sentence)


def write_document(directory: Path) -> None:
    (directory / FILE).write_text("{}")


def test_the_model_stands_under_its_name_with_nothing_linked(made: Made, tmp_path: Path):
    manifest = write_model(tmp_path / "out", made, "sound-int8", write_document)
    assert read_manifest(tmp_path / "out" / MANIFEST_FILE) == manifest
    assert manifest.name == "sound-int8"
    assert manifest.summary == f"sound, quantized ({manifest.precision})"
    assert not any(path.is_symlink() for path in (tmp_path / "out").iterdir())
    assert (tmp_path / "out" / FILE).is_file()


def test_an_interruption_leaves_nothing_half_written(made: Made, tmp_path: Path):
    def interrupt(_: Path) -> None:
        raise KeyboardInterrupt

    before = set(tmp_path.iterdir())
    with pytest.raises(KeyboardInterrupt):
        write_model(tmp_path / "out", made, "sound-int8", interrupt)
    assert set(tmp_path.iterdir()) == before


def test_an_interruption_leaves_what_was_there(made: Made, tmp_path: Path):
    write_model(tmp_path / "out", made, "first", write_document)

    def interrupt(_: Path) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_model(tmp_path / "out", made, "second", interrupt)
    assert read_manifest(tmp_path / "out" / MANIFEST_FILE).name == "first"


def test_what_this_command_wrote_is_replaced(made: Made, tmp_path: Path):
    write_model(tmp_path / "out", made, "first", write_document)
    require_writable(tmp_path / "out", ORIGINAL)
    write_model(tmp_path / "out", made, "second", write_document)
    assert read_manifest(tmp_path / "out" / MANIFEST_FILE).name == "second"


def test_what_somebody_else_wrote_is_not(tmp_path: Path):
    (tmp_path / "thesis.tex").write_text("…")
    with pytest.raises(ConfigurationError, match="was not written by this command"):
        require_writable(tmp_path, ORIGINAL)


def test_an_empty_directory_may_be_filled(tmp_path: Path):
    require_writable(tmp_path, ORIGINAL)


def test_there_must_be_a_folder_to_put_it_into(tmp_path: Path):
    with pytest.raises(ConfigurationError, match="there is no folder"):
        require_writable(tmp_path / "missing" / "out", ORIGINAL)


def test_the_original_is_not_replaced(tmp_path: Path):
    (tmp_path / FILE).write_text("{}")
    with pytest.raises(ConfigurationError, match="is the model to be quantized"):
        require_writable(tmp_path, tmp_path / "." / "")


def test_the_directory_we_are_in_is_not_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigurationError, match="is where this command runs"):
        require_writable(Path(), ORIGINAL)


def test_the_work_folder_lies_beside_the_output(tmp_path: Path):
    assert work_folder(tmp_path / "out") == tmp_path / ".out.quantize"


def test_nothing_stays_where_nothing_was_measured(tmp_path: Path):
    with working_on(tmp_path / "out", Silence()) as folder:
        (folder / "candidates" / "int8").mkdir(parents=True)
    assert not any(tmp_path.iterdir())


def test_what_was_measured_stays_and_graphs_go(tmp_path: Path):
    progress = Hearing()
    with pytest.raises(KeyboardInterrupt), working_on(tmp_path / "out", progress) as folder:
        (folder / "candidates").mkdir()
        (folder / "decoded").mkdir()
        raise KeyboardInterrupt
    assert sorted(path.name for path in work_folder(tmp_path / "out").iterdir()) == ["decoded", "lock"]
    assert progress.said == [f"what was measured is kept in {folder}; the same command goes on from there"]


def test_two_commands_do_not_work_on_the_same_output(tmp_path: Path):
    with (
        working_on(tmp_path / "out", Silence()),
        pytest.raises(MachineError, match="another edge-asr quantize is making"),
        working_on(tmp_path / "out", Silence()),
    ):
        raise AssertionError("both got in")


def test_a_place_that_cannot_be_written_to_is_said_so(tmp_path: Path):
    (tmp_path / ".out.quantize").write_text("in the way")
    with (
        pytest.raises(ConfigurationError, match="nothing can be written there: File exists"),
        working_on(tmp_path / "out", Silence()),
    ):
        raise AssertionError("it got in")


def test_what_a_killed_command_left_is_cleared_away(tmp_path: Path):
    folder = work_folder(tmp_path / "out")
    left = [folder / "candidates" / "int8", folder / "steps", folder / "temporary" / "big", tmp_path / ".out.staging"]
    for path in left:
        path.mkdir(parents=True)
    with working_on(tmp_path / "out", Silence()):
        assert not any(path.exists() for path in left)


def test_what_a_killed_command_was_replacing_is_put_back(tmp_path: Path):
    (tmp_path / ".out.old").mkdir()
    (tmp_path / ".out.old" / FILE).write_text("the first one")
    with working_on(tmp_path / "out", Silence()):
        assert (tmp_path / "out" / FILE).read_text() == "the first one"
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_temporary_files_lie_in_the_work_folder_and_go_with_it(tmp_path: Path):
    before = tempfile.gettempdir()
    with working_on(tmp_path / "out", Silence()) as folder:
        assert Path(tempfile.mkdtemp()).is_relative_to(folder)
    assert tempfile.gettempdir() == before
    assert not folder.exists()


def test_a_report_is_written_whole(tmp_path: Path):
    write_text(tmp_path / "report.html", "first")
    with pytest.raises(UnicodeEncodeError):
        write_text(tmp_path / "report.html", "\ud800")
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("report.html", "first")]
