from __future__ import annotations

import errno
import fcntl
import os
from pathlib import Path

import pytest

from edge_asr.errors import (
    ConfigurationError,
    DiskFull,
    ModelDamaged,
    ModelNotFound,
    ModelUnsupported,
    StoreBusy,
    StoreNotWritable,
)
from edge_asr.manifest import format_manifest
from edge_asr.store.locations import StoreLocations
from edge_asr.store.store import ModelStore
from tests.store.conftest import WHOLE, fill_with, manifest


def install(store: ModelStore, name: str = "tiny", version: str = "1") -> Path:
    return store.install(name, fill_with(WHOLE, manifest(name, version=version))).directory


def bundle(catalogue: Path, name: str = "starter-en") -> None:
    (catalogue / name).mkdir()
    (catalogue / name / "manifest.toml").write_text(format_manifest(manifest(name)))


def forbid_writing_to(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also for root, whom no mode of a file stops."""
    really = os.access

    def access(path: Path, mode: int) -> bool:
        return really(path, mode) and not (mode & os.W_OK and Path(path).is_relative_to(directory))

    monkeypatch.setattr(os, "access", access)


def test_an_installed_model_is_found_with_its_manifest(store: ModelStore) -> None:
    directory = install(store)
    found = store.find("tiny")
    assert (found.manifest, found.directory, found.is_bundled) == (manifest("tiny"), directory, False)
    assert (directory / "model.onnx").read_bytes() == b"graph"


def test_a_failed_installation_leaves_nothing(store: ModelStore) -> None:
    def fail(directory: Path):
        (directory / "half").write_bytes(b"x")
        raise ModelDamaged("tiny", "no luck")

    with pytest.raises(ModelDamaged, match="no luck"):
        store.install("tiny", fail)
    assert store.installed() == []
    assert [path.name for path in (store.writable_root / "models").iterdir()] == [".lock-tiny"]


def test_a_failed_upgrade_keeps_the_old_model(store: ModelStore) -> None:
    install(store, version="1")
    with pytest.raises(ZeroDivisionError):
        store.install("tiny", lambda _: 1 / 0)  # type: ignore[arg-type,return-value]
    assert store.find("tiny").manifest.version == "1"


def test_an_upgrade_replaces_the_model_whole(store: ModelStore) -> None:
    install(store, version="1")
    store.install("tiny", fill_with({"model.onnx": b"new"}, manifest("tiny", version="2")))
    assert sorted(path.name for path in store.find("tiny").directory.iterdir()) == ["manifest.toml", "model.onnx"]


def test_a_crash_between_the_two_renames_loses_no_model(store: ModelStore) -> None:
    directory = install(store)
    directory.rename(directory.with_name(".old-tiny"))
    assert store.find("tiny").manifest == manifest("tiny")
    assert [model.manifest.name for model in store.installed()] == ["tiny"]
    install(store, version="2")
    assert store.find("tiny").directory == directory
    assert [path.name for path in directory.parent.iterdir() if path.name.startswith(".old")] == []


def test_a_full_disk_is_said_so_and_leaves_nothing(store: ModelStore) -> None:
    def fill(directory: Path):
        (directory / "half").write_bytes(b"x")
        raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(DiskFull, match=r"no space left in .*models"):
        store.install("tiny", fill)
    assert [path.name for path in (store.writable_root / "models").iterdir()] == [".lock-tiny"]


def test_two_commands_on_the_same_model_do_not_meet(store: ModelStore) -> None:
    install(store)
    lock = store.writable_root / "models" / ".lock-tiny"
    with lock.open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with pytest.raises(StoreBusy, match="'tiny'"):
            install(store)


def test_an_unknown_name_suggests_the_one_that_was_meant(store: ModelStore) -> None:
    install(store, "starter-en")
    with pytest.raises(ModelNotFound, match="did you mean 'starter-en'"):
        store.find("startr-en")


@pytest.mark.parametrize("name", ["starter-en-transducer", "whisper-small"])
def test_another_name_is_no_mistyped_one(store: ModelStore, name: str) -> None:
    install(store, "starter-en")
    with pytest.raises(ModelNotFound, match="and `edge-asr models import` takes any other"):
        store.find(name)


def test_a_catalogued_name_says_how_to_get_it(store: ModelStore, catalogue: Path) -> None:
    (catalogue / "tiny.toml").write_text(format_manifest(manifest("tiny")))
    with pytest.raises(ModelNotFound, match="run `edge-asr models pull tiny`"):
        store.find("tiny")


def test_a_path_is_a_directory_and_never_a_name(store: ModelStore, tmp_path: Path) -> None:
    directory = install(store)
    assert store.resolve(str(directory)).manifest.name == "tiny"
    with pytest.raises(ModelNotFound, match="no such directory"):
        store.resolve("./tiny")
    (tmp_path / "empty").mkdir()
    with pytest.raises(ModelDamaged, match="edge-asr models import"):
        store.resolve(str(tmp_path / "empty"))


def test_a_directory_named_like_a_model_is_pointed_out(
    store: ModelStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mine").mkdir()
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ModelNotFound, match=r"write \./mine"):
        store.resolve("mine")


def test_the_bundled_model_is_active_until_another_is_activated(store: ModelStore, catalogue: Path) -> None:
    bundle(catalogue)
    install(store, "tiny")
    assert store.active().manifest.name == "starter-en"
    store.activate("tiny")
    assert store.active().manifest.name == "tiny"


def test_rollback_goes_back_step_by_step(store: ModelStore, catalogue: Path) -> None:
    bundle(catalogue)
    install(store, "one")
    install(store, "two")
    store.activate("one")
    store.activate("two")
    store.activate("two")
    assert [store.rollback().manifest.name, store.rollback().manifest.name] == ["one", "starter-en"]
    with pytest.raises(ConfigurationError, match="nothing to roll back"):
        store.rollback()


def test_what_this_user_activated_comes_before_what_the_system_has(
    tmp_path: Path, catalogue: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    system, own = tmp_path / "system", tmp_path / "own"
    install(as_root := ModelStore(StoreLocations((system,)), catalogue), "theirs")
    as_root.activate("theirs")
    forbid_writing_to(system, monkeypatch)
    store = ModelStore(StoreLocations((system, own)), catalogue)
    install(store, "mine")
    assert store.active().manifest.name == "theirs"
    store.activate("mine")
    assert store.active().manifest.name == "mine"
    assert as_root.active().manifest.name == "theirs"


def test_an_activation_that_cannot_be_read_is_an_error_until_another_is_made(store: ModelStore) -> None:
    install(store)
    (store.writable_root / "active.json").write_text('{"active": 3}')
    with pytest.raises(ConfigurationError, match=r"active\.json does not say .* run `edge-asr models activate"):
        store.active()
    store.activate("tiny")
    assert store.active().manifest.name == "tiny"


def test_a_voice_activity_model_cannot_be_active(store: ModelStore) -> None:
    store.install("vad", fill_with({}, manifest("vad", family="silero-vad")))
    with pytest.raises(ModelUnsupported, match="does not recognise speech"):
        store.activate("vad")


def test_only_installed_models_can_be_activated(store: ModelStore) -> None:
    with pytest.raises(ModelNotFound):
        store.activate("tiny")


def test_a_removed_model_is_gone(store: ModelStore) -> None:
    install(store)
    store.remove("tiny")
    assert store.installed() == []


def test_a_model_in_a_place_of_the_system_cannot_be_removed_by_a_user(store: ModelStore) -> None:
    directory = install(store)
    (directory.parent / ".lock-tiny").unlink()
    (directory.parent / ".lock-tiny").mkdir()  # Cannot be opened for writing, by root neither.
    with pytest.raises(StoreNotWritable, match="models"):
        store.remove("tiny")
    assert store.find("tiny").directory == directory


def test_the_active_and_the_bundled_model_stay(store: ModelStore, catalogue: Path) -> None:
    bundle(catalogue)
    install(store)
    store.activate("tiny")
    with pytest.raises(ConfigurationError, match="is active"):
        store.remove("tiny")
    with pytest.raises(ConfigurationError, match="part of the package"):
        store.remove("starter-en")


def test_a_damaged_manifest_hides_its_own_model_only(store: ModelStore) -> None:
    install(store, "good")
    (install(store, "bad") / "manifest.toml").write_text("name = ")
    assert [model.manifest.name for model in store.installed()] == ["good"]
    assert list(store.damaged()) == ["bad"]
    with pytest.raises(ModelDamaged, match="manifest is wrong"):
        store.find("bad")
    store.remove("bad")
    assert store.damaged() == {}
