from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from edge_asr.errors import FetchFailed, ModelDamaged
from edge_asr.store.download import download
from tests.store.conftest import Site

BODY = bytes(range(256)) * 4000
SHA256 = hashlib.sha256(BODY).hexdigest()


def silent(_label: str, _done: int, _total: int) -> None:
    pass


def test_a_file_arrives_whole_and_its_progress_is_told(site: Site, tmp_path: Path) -> None:
    site.files["/x.bin"] = BODY
    told: list[tuple[str, int, int]] = []
    download(f"{site.url}/x.bin", tmp_path / "x", lambda *step: told.append(step), sha256=SHA256)
    assert (tmp_path / "x").read_bytes() == BODY
    assert told[-1] == ("x.bin", len(BODY), len(BODY))
    assert not (tmp_path / "x.part").exists()


def test_a_broken_connection_is_taken_up_where_it_stopped(site: Site, tmp_path: Path) -> None:
    site.files["/x.bin"] = BODY
    site.break_after = [300_000]
    download(f"{site.url}/x.bin", tmp_path / "x", silent, sha256=SHA256)
    assert site.ranges == ["", "bytes=300000-"]
    assert (tmp_path / "x").read_bytes() == BODY


def test_the_next_command_goes_on_where_the_last_gave_up(site: Site, tmp_path: Path) -> None:
    site.files["/x.bin"] = BODY
    site.break_after = [100_000, 100_000, 100_000]
    with pytest.raises(FetchFailed, match="broke off"):
        download(f"{site.url}/x.bin", tmp_path / "x", silent)
    site.ranges.clear()
    download(f"{site.url}/x.bin", tmp_path / "x", silent, sha256=SHA256)
    assert site.ranges == ["bytes=300000-"]


def test_a_server_that_knows_no_ranges_starts_over(site: Site, tmp_path: Path) -> None:
    site.files["/x.bin"] = BODY
    site.break_after = [100_000]
    site.ignores_ranges = True
    download(f"{site.url}/x.bin", tmp_path / "x", silent, sha256=SHA256)
    assert (tmp_path / "x").read_bytes() == BODY


def test_a_leftover_longer_than_the_file_is_thrown_away(site: Site, tmp_path: Path) -> None:
    site.files["/x.bin"] = BODY
    (tmp_path / "x.part").write_bytes(BODY + b"more")
    download(f"{site.url}/x.bin", tmp_path / "x", silent, sha256=SHA256)
    assert (tmp_path / "x").read_bytes() == BODY


def test_other_contents_than_promised_are_not_kept(site: Site, tmp_path: Path) -> None:
    site.files["/x.bin"] = b"something else"
    with pytest.raises(ModelDamaged, match="sha256"):
        download(f"{site.url}/x.bin", tmp_path / "x", silent, sha256=SHA256)
    assert list(tmp_path.iterdir()) == []


def test_too_much_is_refused_with_the_limit(site: Site, tmp_path: Path) -> None:
    site.files["/x.bin"] = BODY
    with pytest.raises(FetchFailed, match="limit of 0 MiB"):
        download(f"{site.url}/x.bin", tmp_path / "x", silent, max_bytes=1000)


def test_a_missing_file_is_said_so(site: Site, tmp_path: Path) -> None:
    with pytest.raises(FetchFailed, match=r"cannot fetch gone\.bin: the server says 404"):
        download(f"{site.url}/gone.bin", tmp_path / "x", silent)


def test_no_server_is_said_so(tmp_path: Path) -> None:
    with pytest.raises(FetchFailed, match="cannot be reached"):
        download("http://127.0.0.1:9/x.bin", tmp_path / "x", silent)


def test_other_schemes_are_refused(tmp_path: Path) -> None:
    with pytest.raises(FetchFailed, match="only http"):
        download("ftp://127.0.0.1/x.bin", tmp_path / "x", silent)
