from __future__ import annotations

import io
import tarfile
import zipfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from edge_asr.errors import ModelDamaged
from edge_asr.store.archive import extract_all, extract_members


def tar_of(path: Path, members: dict[str, bytes], mode: str = "w:bz2") -> Path:
    with tarfile.open(path, mode) as tar:  # type: ignore[call-overload]
        for name, data in members.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            tar.addfile(entry, io.BytesIO(data))
    return path


def tar_with(path: Path, kind: bytes) -> Path:
    with tarfile.open(path, "w") as tar:
        entry = tarfile.TarInfo("m/evil")
        entry.type = kind
        entry.linkname = "/etc/passwd"
        tar.addfile(entry)
    return path


def zip_of(path: Path, members: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as zipped:
        for name, data in members.items():
            zipped.writestr(name, data)
    return path


@pytest.mark.parametrize("mode", ["w:bz2", "w:gz", "w:xz", "w"])
def test_members_of_a_tar_are_found_with_and_without_the_top_folder(tmp_path: Path, mode: str) -> None:
    archive = tar_of(tmp_path / "m.tar", {"m/tokens.txt": b"a 0\n", "m/other": b"", "m/sub/model.onnx": b"graph"}, mode)
    wanted = {"tokens.txt": tmp_path / "t", "m/sub/model.onnx": tmp_path / "g"}
    extract_members(archive, wanted, "m")
    assert ((tmp_path / "t").read_bytes(), (tmp_path / "g").read_bytes()) == (b"a 0\n", b"graph")


def test_members_of_a_zip_are_found(tmp_path: Path) -> None:
    extract_members(zip_of(tmp_path / "m.zip", {"a/b": b"x"}), {"a/b": tmp_path / "out"}, "m")
    assert (tmp_path / "out").read_bytes() == b"x"


def test_it_is_told_how_far_the_archive_was_read(tmp_path: Path) -> None:
    archive = tar_of(tmp_path / "m.tar.bz2", {"m/model.onnx": bytes(range(256)) * 400})
    told: list[tuple[str, int, int]] = []
    extract_members(archive, {"model.onnx": tmp_path / "g"}, "m", lambda *step: told.append(step))
    size = archive.stat().st_size
    assert ("unpacking m", size, size) in told


def test_links_that_nobody_asked_for_are_passed_over(tmp_path: Path) -> None:
    archive = tar_with(tmp_path / "archive", tarfile.SYMTYPE)
    with tarfile.open(archive, "a") as tar:
        entry = tarfile.TarInfo("m/tokens.txt")
        tar.addfile(entry)
    extract_members(archive, {"tokens.txt": tmp_path / "t"}, "m")
    assert (tmp_path / "t").read_bytes() == b""
    with pytest.raises(ModelDamaged, match="link or a device"):
        extract_members(archive, {"evil": tmp_path / "e"}, "m")


def test_a_missing_member_is_named(tmp_path: Path) -> None:
    with pytest.raises(ModelDamaged, match=r"lacks model\.onnx"):
        extract_members(tar_of(tmp_path / "m.tar", {"m/x": b""}), {"model.onnx": tmp_path / "g"}, "m")


@pytest.mark.parametrize("name", ["/etc/evil", "../evil", "m/../../evil", "m\\..\\evil"])
@pytest.mark.parametrize("make", [tar_of, zip_of])
def test_a_path_that_leaves_the_directory_is_refused(tmp_path: Path, name: str, make) -> None:
    archive = make(tmp_path / "archive", {name: b"evil"})
    inside = tmp_path / "deep" / "inside"
    inside.mkdir(parents=True)
    with pytest.raises(ModelDamaged, match="outside"):
        extract_all(archive, inside, "m")
    assert list(tmp_path.rglob("*evil*")) == []


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE])
def test_links_and_devices_are_refused(tmp_path: Path, kind: bytes) -> None:
    with pytest.raises(ModelDamaged, match="link or a device"):
        extract_all(tar_with(tmp_path / "archive", kind), tmp_path / "out", "m")


def test_a_link_in_a_zip_is_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "m.zip", "w") as zipped:
        entry = zipfile.ZipInfo("evil")
        entry.external_attr = 0o120777 << 16
        zipped.writestr(entry, "/etc/passwd")
    with pytest.raises(ModelDamaged, match="link or a device"):
        extract_all(tmp_path / "m.zip", tmp_path, "m")


def test_a_bomb_is_stopped_at_the_limit(tmp_path: Path) -> None:
    archive = zip_of(tmp_path / "bomb.zip", {"a": bytes(3000), "b": bytes(3000)})
    with pytest.raises(ModelDamaged, match="unpacks to more"):
        extract_all(archive, tmp_path, "m", max_bytes=5000)


@pytest.mark.parametrize("data", [b"", b"<html>not found</html>", b"BZh9 cut"])
def test_what_is_no_archive_is_said_so(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "m.tar.bz2").write_bytes(data)
    with pytest.raises(ModelDamaged, match=r"neither a tar nor a zip|cannot be unpacked"):
        extract_all(tmp_path / "m.tar.bz2", tmp_path, "m")


def test_an_archive_that_is_cut_off_is_said_so(tmp_path: Path) -> None:
    archive = tar_of(tmp_path / "m.tar.gz", {f"m/{n}": bytes([n]) * 5000 for n in range(20)}, "w:gz")
    archive.write_bytes(archive.read_bytes()[:300])
    with pytest.raises(ModelDamaged):
        extract_all(archive, tmp_path / "out", "m")


@pytest.mark.parametrize("members", [{"a": b"file", "a/b": b"in it"}, {"n" * 300: b""}], ids=["both", "long"])
def test_names_that_no_directory_can_hold_are_the_archives_fault(tmp_path: Path, members: dict[str, bytes]) -> None:
    (tmp_path / "out").mkdir()
    with pytest.raises(ModelDamaged, match="cannot be unpacked"):
        extract_all(zip_of(tmp_path / "m.zip", members), tmp_path / "out", "m")


MAKERS = {
    "bz2": lambda path, members: tar_of(path, members, "w:bz2"),
    "gz": lambda path, members: tar_of(path, members, "w:gz"),
    "xz": lambda path, members: tar_of(path, members, "w:xz"),
    "tar": lambda path, members: tar_of(path, members, "w"),
    "zip": zip_of,
}


@pytest.mark.parametrize("kind", MAKERS)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(where=st.floats(0, 1, exclude_max=True), byte=st.integers(0, 255), kept=st.floats(0.3, 1))
def test_a_damaged_archive_raises_nothing_else(tmp_path: Path, kind: str, where: float, byte: int, kept: float) -> None:
    archive = MAKERS[kind](tmp_path / "archive", {"m/tokens.txt": b"a 0\n" * 50, "m/model.onnx": bytes(range(256)) * 8})
    whole = bytearray(archive.read_bytes())
    whole[int(where * len(whole))] = byte
    archive.write_bytes(whole[: int(kept * len(whole))])
    out = tmp_path / "out"
    out.mkdir(exist_ok=True)
    try:
        extract_all(archive, out, "m")
    except ModelDamaged as error:
        assert "\n" not in str(error)
