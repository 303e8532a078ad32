"""``edge-asr models``: what is printed where, and the exit codes."""

from __future__ import annotations

import functools
import hashlib
import io
import json
import re
import tarfile
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from edge_asr.cli import stores
from edge_asr.manifest import ModelFile, ModelSource, format_manifest, read_manifest
from edge_asr.store.locations import store_locations
from tests.cli.conftest import Run
from tests.support import tiny_models
from tests.support.web_site import Site, serving


@pytest.fixture
def home(alone: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only store there is, beside the bundled models."""
    monkeypatch.setenv("EDGE_ASR_HOME", str(tmp_path / "store"))
    elsewhere = functools.partial(store_locations, system_store=tmp_path / "system")
    monkeypatch.setattr(stores, "store_locations", elsewhere)
    return tmp_path / "store"


@pytest.fixture
def site() -> Iterator[Site]:
    with serving() as site:
        yield site


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    """A directory with a model that the engine loads."""
    tiny_models.write_lstm_transducer(tmp_path / "Tiny LSTM")
    return tmp_path / "Tiny LSTM"


@pytest.fixture
def imported(run: Run, home: Path, tiny: Path) -> Path:
    """The store's directory of that model."""
    assert run("models", "import", tiny, "--language", "en").out == "tiny-lstm\n"
    return home / "models" / "tiny-lstm"


def published(site: Site, tmp_path: Path, tiny: Path, **changes: object) -> Path:
    """A manifest of that model as an archive on a web site."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:bz2") as tar:
        tar.add(tiny, "top")
    site.files["/top.tar.bz2"] = packed.getvalue()
    files = {
        role: ModelFile(path=f"{role}{suffix}", member=f"top/{role}{suffix}")
        for role, suffix in {"tokens": ".txt", "encoder": ".onnx", "decoder": ".onnx", "joiner": ".onnx"}.items()
    }
    manifest = tiny_models.tiny_manifest("lstm-transducer", {}, name="published")
    source = ModelSource(kind="url", url=f"{site.url}/top.tar.bz2", digests_url=f"{site.url}/checksum.txt")
    changed = msgspec.structs.replace(manifest, **({"files": files, "source": source} | changes))
    path = tmp_path / "published.toml"
    path.write_text(format_manifest(changed))
    return path


def test_the_list_marks_the_active_model_and_names_what_can_be_fetched(run: Run, home: Path) -> None:
    ran = run("models", "list")
    lines = ran.out.splitlines()
    assert (ran.status, ran.err) == (0, "")
    assert [line.split()[1] for line in lines if line.startswith("*")] == ["starter-en"]
    assert any(line.split()[:3] == ["moonshine-tiny-en", "-", "pypi"] for line in lines)
    assert any(line.split()[1:4] == ["starter-en", "bundled", "package"] for line in lines)


def test_the_list_as_json_says_the_same(run: Run, home: Path, imported: Path) -> None:
    rows = {row["name"]: row for row in json.loads(run("models", "list", "--json").out)}
    assert (rows["tiny-lstm"]["installed"], rows["tiny-lstm"]["languages"]) == (True, ["en"])
    assert (rows["starter-en"]["bundled"], rows["starter-en"]["active"]) == (True, True)
    assert (rows["t-one-ru"]["installed"], rows["t-one-ru"]["languages"]) == (False, ["ru"])


def test_a_damaged_manifest_is_named_beside_the_list(run: Run, imported: Path) -> None:
    (imported / "manifest.toml").write_text("name =")
    ran = run("models", "list")
    assert ran.status == 0
    assert "tiny-lstm" not in ran.out
    assert "the manifest is wrong" in ran.err


def test_a_model_is_shown_with_its_timing_sizes_and_licence(run: Run, home: Path) -> None:
    shown = run("models", "show", "starter-en").out
    for line in (
        "chunk            320 ms",
        "look-ahead       130 ms",
        "tail padding     450 ms",
        "precision        int8",
    ):
        assert line in shown
    assert "licence          Apache-2.0" in shown
    assert re.search(r"^  model +model\.int8\.onnx  \d\.\d+ MB$", shown, re.MULTILINE)


def test_a_model_is_shown_with_the_providers_that_can_run_it(run: Run, home: Path) -> None:
    providers = json.loads(run("models", "show", "starter-en", "--json").out)["providers"]
    assert providers[0] == "cpu"
    assert {"openvino", "cuda"} <= set(providers)
    assert not {"rknn", "qnn", "hailo", "ascend"} & set(providers)  # they need files compiled for them


def test_a_model_that_is_not_here_is_shown_from_the_catalogue(run: Run, home: Path) -> None:
    facts = json.loads(run("models", "show", "t-one-ru", "--json").out)
    assert (facts["installed"], facts["sample_rate_hz"], facts["chunk_ms"]) == (False, 8000, 300)
    assert "size known when fetched" in run("models", "show", "t-one-ru").out


def test_an_unknown_name_suggests_another(run: Run, home: Path) -> None:
    ran = run("models", "show", "t-one-r")
    assert (ran.status, ran.out) == (4, "")
    assert "did you mean 't-one-ru'?" in ran.err


def test_an_archive_is_fetched_and_its_digests_are_recorded(
    run: Run, home: Path, tmp_path: Path, tiny: Path, site: Site
) -> None:
    manifest = published(site, tmp_path, tiny)
    site.files["/checksum.txt"] = f"top.tar.bz2 {hashlib.sha256(site.files['/top.tar.bz2']).hexdigest()}".encode()
    ran = run("models", "pull", manifest)
    assert (ran.status, ran.out) == (0, "")
    assert "the download is the one its publisher lists" in ran.err
    installed = read_manifest(home / "models" / "published" / "manifest.toml")
    tokens = (home / "models" / "published" / "tokens.txt").read_bytes()
    assert installed.files["tokens"].sha256 == hashlib.sha256(tokens).hexdigest()
    assert run("models", "verify", "published").out == "published: whole, and it loads (cpu)\n"


def test_what_is_installed_is_not_fetched_again(run: Run, home: Path, tmp_path: Path, tiny: Path, site: Site) -> None:
    manifest = published(site, tmp_path, tiny)
    run("models", "pull", manifest)
    site.files.clear()
    ran = run("models", "pull", manifest)
    assert ran.status == 0
    assert "installed already" in ran.err


def test_a_damaged_model_is_fetched_again(run: Run, home: Path, tmp_path: Path, tiny: Path, site: Site) -> None:
    manifest = published(site, tmp_path, tiny)
    run("models", "pull", manifest)
    run("models", "activate", "published")
    (home / "models" / "published" / "tokens.txt").write_text("other")
    ran = run("models", "pull", manifest)
    assert ran.status == 0
    assert "fetching it again: model 'published': tokens.txt has 5 bytes" in ran.err
    assert run("models", "verify", "published").status == 0


def test_a_fetched_model_that_would_end_the_engine_is_not_installed(
    run: Run, home: Path, tmp_path: Path, tiny: Path, site: Site
) -> None:
    (tiny / "tokens.txt").write_text("<blk> 0\n")
    ran = run("models", "pull", published(site, tmp_path, tiny))
    assert ran.status == 4
    assert "do not belong together" in ran.err
    assert not (home / "models" / "published").exists()


def test_a_server_that_has_it_not_is_one_line(run: Run, home: Path, tmp_path: Path, tiny: Path, site: Site) -> None:
    manifest = published(site, tmp_path, tiny)
    site.files.clear()
    ran = run("models", "pull", manifest)
    assert ran.status == 5
    assert ran.err == (
        "edge-asr: error: cannot fetch top.tar.bz2: the server says 404 Not Found; "
        "check the network and run the command again\n"
    )


def test_the_bundled_model_needs_no_fetching(run: Run, home: Path) -> None:
    ran = run("models", "pull", "starter-en")
    assert ran.status == 0
    assert "part of the package" in ran.err


def test_an_imported_model_cannot_be_pulled(run: Run, imported: Path) -> None:
    ran = run("models", "pull", "tiny-lstm")
    assert ran.status == 2
    assert f"'tiny-lstm' was imported, so that there is nowhere to fetch it from; it is in {imported}" in ran.err


def test_a_name_that_nobody_knows_cannot_be_pulled_and_those_that_can_are_named(run: Run, home: Path) -> None:
    ran = run("models", "pull", "t-one")
    assert ran.status == 4
    suggestion, offered = ran.err.strip().split(" what can be fetched is: ")
    assert suggestion.endswith("did you mean 't-one-ru'?")
    assert {"moonshine-tiny-en", "silero-vad"} < set(offered.split(", "))


def test_a_bundled_model_is_not_hidden_by_an_imported_one(run: Run, home: Path, tiny: Path) -> None:
    ran = run("models", "import", tiny, "--name", "starter-en")
    assert (ran.status, ran.out) == (2, "")
    assert "'starter-en' is part of the package; import yours by another name with --name" in ran.err


def test_an_imported_model_that_replaces_another_says_so(run: Run, imported: Path, tiny: Path) -> None:
    assert f"tiny-lstm replaces the model of that name in {imported}" in run("models", "import", tiny).err


def test_a_directory_without_a_model_is_not_imported(run: Run, home: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    ran = run("models", "import", tmp_path / "empty")
    assert ran.status == 4
    assert "there is no .onnx or .ort file in it" in ran.err


ALL_BUNDLED_ARE_WHOLE = "".join(
    f"{name}: whole, and it loads (cpu)\n" for name in ("starter-en", "starter-en-fp32", "starter-en-transducer")
)
"""Those of a checkout; the wheel holds the first and the last one."""


def test_the_bundled_models_are_whole_and_load(run: Run, home: Path) -> None:
    ran = run("models", "verify")
    assert (ran.status, ran.out, ran.err) == (0, ALL_BUNDLED_ARE_WHOLE, "")


def test_verifying_says_which_models_are_damaged_and_which_are_not(run: Run, imported: Path) -> None:
    (imported / "encoder.onnx").write_bytes((imported / "encoder.onnx").read_bytes()[:500])
    ran = run("models", "verify", "--json")
    assert ran.status == 4
    results = {result["model"]: result for result in json.loads(ran.out)}
    assert (results["starter-en"]["ok"], results["starter-en"]["provider"]) == (True, "cpu")
    assert (results["tiny-lstm"]["ok"], results["tiny-lstm"]["code"]) == (False, "model_damaged")
    assert "encoder.onnx has 500 bytes" in ran.err


def test_a_damaged_manifest_is_verified_too(run: Run, imported: Path) -> None:
    (imported / "manifest.toml").write_text("name =")
    ran = run("models", "verify")
    assert ran.status == 4
    assert ran.out == ALL_BUNDLED_ARE_WHOLE
    assert "the manifest is wrong" in ran.err


def test_a_model_is_activated_and_rolled_back(run: Run, imported: Path) -> None:
    ran = run("models", "activate", "tiny-lstm", "--max-wer", "1")
    assert (ran.status, ran.out) == (0, "tiny-lstm\n")
    assert "a running daemon takes it" in ran.err
    assert run("models", "rollback").out == "starter-en\n"
    assert run("models", "rollback").status == 2


def test_a_model_that_understands_nothing_is_not_activated(run: Run, imported: Path) -> None:
    ran = run("models", "activate", "tiny-lstm")
    assert (ran.status, ran.out) == (6, "")
    assert "model 'tiny-lstm' is not activated: word error rate" in ran.err
    assert "--max-wer 1" in ran.err
    assert "*" in next(line for line in run("models", "list").out.splitlines() if "starter-en" in line)


def test_words_of_another_language_are_not_judged(run: Run, home: Path, tiny: Path) -> None:
    run("models", "import", tiny, "--language", "de")
    assert run("models", "activate", "tiny-lstm").status == 0


def test_an_understanding_model_is_activated_and_says_what_was_heard(run: Run, home: Path) -> None:
    ran = run("models", "activate", "starter-en")
    assert (ran.status, ran.out) == (0, "starter-en\n")
    assert "starter-en was tried with 16 recordings" in ran.err


def test_a_broken_configuration_is_why_a_model_is_not_activated(run: Run, home: Path, tmp_path: Path) -> None:
    (tmp_path / "broken.toml").write_text("[engine")
    ran = run("models", "activate", "starter-en", "--config", tmp_path / "broken.toml")
    assert ran.status == 2
    assert "starter-en is not activated, since the configuration is wrong: " in ran.err


def test_a_damaged_model_is_not_activated(run: Run, imported: Path) -> None:
    (imported / "tokens.txt").write_text("<blk> 0\n")
    assert run("models", "activate", "tiny-lstm").status == 4
    assert "*" in next(line for line in run("models", "list").out.splitlines() if "starter-en" in line)


def test_a_model_is_removed_unless_it_is_active_or_bundled(run: Run, imported: Path) -> None:
    run("models", "activate", "tiny-lstm", "--max-wer", "1")
    assert "activate another one first" in run("models", "remove", "tiny-lstm").err
    run("models", "rollback")
    assert run("models", "remove", "tiny-lstm").status == 0
    assert not imported.exists()
    assert run("models", "remove", "starter-en").status == 2
    assert run("models", "remove", "tiny-lstm").status == 4


def test_a_store_that_cannot_be_written_is_one_line(
    run: Run, home: Path, tiny: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EDGE_ASR_HOME", "/proc/no-store")
    ran = run("models", "import", tiny)
    assert (ran.status, ran.out) == (5, "")
    assert ran.err == (
        "edge-asr: error: no model store can be written (tried /proc/no-store); "
        "set EDGE_ASR_HOME to a writable directory\n"
    )
    assert run("models", "list").status == 0
