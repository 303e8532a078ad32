from __future__ import annotations

import hashlib
from pathlib import Path
from types import SimpleNamespace

import pytest

from edge_asr.errors import DiskFull, FetchFailed, ModelDamaged
from edge_asr.store.download import download, fetch_text
from tests.support.web_site import Site

BODY = bytes(range(256)) * 4000
SHA256 = hashlib.sha256(BODY).hexdigest()


def silent(_label: str, _done: int, _total: int) -> None:
    pass


def without_waiting(_pause_s: float) -> None:
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
    download(f"{site.url}/x.bin", tmp_path / "x", silent, sha256=SHA256, pause=without_waiting)
    assert site.ranges == ["", "bytes=300000-"]
    assert (tmp_path / "x").read_bytes() == BODY


def test_the_next_command_goes_on_where_the_last_gave_up(site: Site, tmp_path: Path) -> None:
    site.files["/x.bin"] = BODY
    site.break_after = [100_000, 100_000, 100_000]
    with pytest.raises(FetchFailed, match="broke off"):
        download(f"{site.url}/x.bin", tmp_path / "x", silent, pause=without_waiting)
    site.ranges.clear()
    download(f"{site.url}/x.bin", tmp_path / "x", silent, sha256=SHA256, pause=without_waiting)
    assert site.ranges == ["bytes=300000-"]


def test_what_is_left_of_another_file_is_not_continued(site: Site, tmp_path: Path) -> None:
    site.files["/x.bin"] = b"old" * 200_000
    site.etag = '"old"'
    site.break_after = [100_000, 100_000, 100_000]
    with pytest.raises(FetchFailed, match="broke off"):
        download(f"{site.url}/x.bin", tmp_path / "x", silent, pause=without_waiting)
    site.files["/x.bin"] = BODY
    site.etag = '"new"'
    download(f"{site.url}/x.bin", tmp_path / "x", silent, pause=without_waiting)
    assert (tmp_path / "x").read_bytes() == BODY
    assert [path.name for path in tmp_path.iterdir()] == ["x"]


def test_a_server_that_is_busy_is_asked_again(site: Site, tmp_path: Path) -> None:
    site.files["/x.bin"] = BODY
    site.refuse_with = [503]
    pauses: list[float] = []
    download(f"{site.url}/x.bin", tmp_path / "x", silent, pause=pauses.append)
    assert (tmp_path / "x").read_bytes() == BODY
    assert pauses == [1.0]


def test_a_server_that_stays_busy_is_said_so(site: Site, tmp_path: Path) -> None:
    site.refuse_with = [503] * 3
    with pytest.raises(FetchFailed, match="the server says 503"):
        download(f"{site.url}/x.bin", tmp_path / "x", silent, pause=without_waiting)


def test_a_digest_that_the_server_promises_is_checked(site: Site, tmp_path: Path) -> None:
    site.files["/elsewhere"] = b"something else"
    site.elsewhere["/x.bin"] = ("/elsewhere", {"X-Linked-ETag": f'"{SHA256}"'})
    with pytest.raises(ModelDamaged, match=f"instead of {SHA256}"):
        download(f"{site.url}/x.bin", tmp_path / "x", silent)
    site.files["/elsewhere"] = BODY
    download(f"{site.url}/x.bin", tmp_path / "x", silent)
    assert (tmp_path / "x").read_bytes() == BODY


def test_a_file_larger_than_the_free_space_is_not_begun(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site.files["/x.bin"] = BODY
    monkeypatch.setattr("shutil.disk_usage", lambda _: SimpleNamespace(free=1 << 19))
    with pytest.raises(DiskFull, match="0 MiB are needed and 0 MiB are free"):
        download(f"{site.url}/x.bin", tmp_path / "x", silent)
    assert list(tmp_path.iterdir()) == []


def test_a_server_that_knows_no_ranges_starts_over(site: Site, tmp_path: Path) -> None:
    site.files["/x.bin"] = BODY
    site.break_after = [100_000]
    site.ignores_ranges = True
    download(f"{site.url}/x.bin", tmp_path / "x", silent, sha256=SHA256, pause=without_waiting)
    assert (tmp_path / "x").read_bytes() == BODY


def test_a_leftover_longer_than_the_file_is_thrown_away(site: Site, tmp_path: Path) -> None:
    site.files["/x.bin"] = BODY
    (tmp_path / "x.part").write_bytes(BODY + b"more")
    download(f"{site.url}/x.bin", tmp_path / "x", silent, sha256=SHA256, pause=without_waiting)
    assert (tmp_path / "x").read_bytes() == BODY


def test_other_contents_than_promised_are_not_kept(site: Site, tmp_path: Path) -> None:
    site.files["/x.bin"] = b"something else"
    with pytest.raises(ModelDamaged, match="sha256"):
        download(f"{site.url}/x.bin", tmp_path / "x", silent, sha256=SHA256, pause=without_waiting)
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


def test_a_short_text_is_fetched_and_a_long_one_refused(site: Site) -> None:
    site.files["/list.txt"] = "é".encode()
    assert fetch_text(f"{site.url}/list.txt") == "é"
    with pytest.raises(FetchFailed, match="longer than 1 bytes"):
        fetch_text(f"{site.url}/list.txt", max_bytes=1)
    site.files["/list.txt"] = b"\xff"
    with pytest.raises(FetchFailed, match=r"cannot fetch list\.txt"):
        fetch_text(f"{site.url}/list.txt")
