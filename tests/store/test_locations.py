from __future__ import annotations

from pathlib import Path

import pytest

from edge_asr.errors import StoreNotWritable
from edge_asr.store.locations import store_locations


def test_places_are_read_in_the_order_of_the_contract(tmp_path: Path) -> None:
    environment = {"EDGE_ASR_HOME": "/a", "STATE_DIRECTORY": "/b:/other", "XDG_DATA_HOME": "/c", "HOME": "/home/u"}
    found = store_locations(environment, Path("/var/x")).roots
    assert [str(root) for root in found] == ["/a", "/b", "/var/x", "/c/edge-asr"]


def test_the_users_place_is_under_home_without_xdg() -> None:
    assert str(store_locations({"HOME": "/home/u"}).roots[-1]) == "/home/u/.local/share/edge-asr"


def test_the_named_place_is_written_and_made(tmp_path: Path) -> None:
    found = store_locations({"EDGE_ASR_HOME": str(tmp_path / "new" / "home")})
    assert found.writable() == tmp_path / "new" / "home"
    assert (tmp_path / "new" / "home").is_dir()


def test_without_a_named_place_the_first_writable_one_is_taken(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    found = store_locations({"HOME": str(tmp_path)}, system_store=tmp_path / "file" / "edge-asr")
    assert found.writable() == tmp_path / ".local" / "share" / "edge-asr"


def test_a_named_place_that_cannot_be_written_is_an_error_and_no_other_is_taken(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    found = store_locations({"EDGE_ASR_HOME": str(tmp_path / "file" / "x"), "HOME": str(tmp_path)})
    with pytest.raises(StoreNotWritable, match="set EDGE_ASR_HOME"):
        found.writable()


def test_without_home_and_without_rights_the_tried_place_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StoreNotWritable, match=r"tried .*file/edge-asr"):
        store_locations({}, system_store=tmp_path / "file" / "edge-asr").writable()
