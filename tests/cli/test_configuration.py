"""Layers of settings: which one wins, what is refused, and who is named."""

from __future__ import annotations

from pathlib import Path

import pytest

from edge_asr.cli import configuration
from edge_asr.cli.configuration import (
    KEYS,
    Layer,
    environment_layer,
    load,
    merge,
    option_layer,
    read_layer,
    toml_layer,
)
from edge_asr.errors import ConfigurationError
from edge_asr.settings import Settings


def test_without_any_layer_the_defaults_are_in_force() -> None:
    merged = merge([])

    assert merged.settings == Settings()
    assert set(merged.origins.values()) == {"default"}


def test_a_later_layer_wins_and_is_named() -> None:
    merged = merge(
        [
            toml_layer("[engine]\nthreads = 2\nprovider = 'a'", "/etc/x.toml"),
            environment_layer({"EDGE_ASR_ENGINE_THREADS": "3"}),
            option_layer({"engine.provider": ("--provider", "rknn")}),
        ]
    )

    assert (merged.settings.engine.threads, merged.origins["engine.threads"]) == (3, "EDGE_ASR_ENGINE_THREADS")
    assert (merged.settings.engine.provider, merged.origins["engine.provider"]) == ("rknn", "--provider")
    assert merged.origins["engine.fallback"] == "default"


@pytest.mark.parametrize(
    ("variable", "text", "path", "value"),
    [
        ("EDGE_ASR_ENGINE_ALLOW_SPINNING", "false", "engine.allow_spinning", False),
        ("EDGE_ASR_ENGINE_ALLOW_SPINNING", "On", "engine.allow_spinning", True),
        ("EDGE_ASR_ENGINE_ALLOW_SPINNING", "0", "engine.allow_spinning", False),
        ("EDGE_ASR_ENGINE_THREADS", " 4 ", "engine.threads", 4),
        ("EDGE_ASR_SCHEDULER_BACKLOG_S", "2", "scheduler.backlog_s", 2.0),
        ("EDGE_ASR_WORKER_CPUS", "2, 3", "worker.cpus", (2, 3)),
        ("EDGE_ASR_SERVER_ALLOW", "10.0.0.0/8,fd00::/8", "server.allow", ("10.0.0.0/8", "fd00::/8")),
        ("EDGE_ASR_MODEL", "moonshine-tiny-en", "model", "moonshine-tiny-en"),
        ("EDGE_ASR_LOG_LEVEL", "debug", "log.level", "debug"),
        ("EDGE_ASR_WORKER_COUNT", "auto", "worker.count", "auto"),
        ("EDGE_ASR_WORKER_COUNT", "2", "worker.count", 2),
    ],
)
def test_a_variable_is_read_by_the_type_of_its_setting(variable, text, path, value) -> None:
    assert merge([environment_layer({variable: text})]).value(path) == value


@pytest.mark.parametrize(
    ("document", "path", "value"),
    [
        ("[engine]\nallow_spinning = true", "engine.allow_spinning", True),
        ("[scheduler]\nbacklog_s = 2", "scheduler.backlog_s", 2.0),
        ("[worker]\ncpus = [2, 3]", "worker.cpus", (2, 3)),
        ("model = 'x'", "model", "x"),
        ("[worker]\ncount = 2", "worker.count", 2),
        ("[worker]\nmemory_limit_mib = 'auto'", "worker.memory_limit_mib", "auto"),
    ],
)
def test_a_file_is_read(document, path, value) -> None:
    assert merge([toml_layer(document, "f")]).value(path) == value


@pytest.mark.parametrize(
    ("document", "complaint"),
    [
        ("[engine]\ntreads = 1", "f: unknown setting engine.treads; did you mean engine.threads?"),
        ("[enigne]\nthreads = 1", "f: unknown table [enigne]; did you mean engine?"),
        ("threads = 1", "f: unknown setting threads; did you mean engine.threads?"),
        ("[engine]\nmodel = 'x'", "f: unknown setting engine.model; write model above the first [table]"),
        (
            "[server]\n[engine]\n[server]\nport = 1",
            "f: the table [server] begins again (at line 3, column 8); write its settings below the first [server]",
        ),
        ("[server]\nport = 1\nport = 2\n", "f: something is set twice (at"),
        ("[engine]\nthreads = '2'", "f: engine.threads = '2' is not a whole number"),
        ("[engine]\nthreads = true", "f: engine.threads = True is not a whole number"),
        ("[engine]\nallow_spinning = 'false'", "f: engine.allow_spinning = 'false' is not true or false"),
        ("[server]\nallow = '10.0.0.0/8'", "f: server.allow = '10.0.0.0/8' is not a list of texts"),
        ("[worker]\ncpus = ['0']", "f: worker.cpus = ['0'] is not a list of whole numbers"),
        ("engine = 3", "f: unknown setting engine"),
        ("[worker]\ncount = 'all'", "f: worker.count = 'all' is not a whole number or auto"),
    ],
)
def test_what_is_wrong_in_a_file_is_named(document, complaint) -> None:
    with pytest.raises(ConfigurationError) as error:
        toml_layer(document, "f")

    assert str(error.value).startswith(complaint)


def test_everything_wrong_in_a_file_is_said_at_once() -> None:
    with pytest.raises(ConfigurationError) as error:
        toml_layer("[engine]\ntreads = 1\nthreads = 'x'", "f")

    assert len(str(error.value).splitlines()) == 2


def test_a_file_that_is_not_toml_says_where() -> None:
    with pytest.raises(ConfigurationError, match=r"^f is not TOML: .*line 2"):
        toml_layer("[engine]\nthreads = \n", "f")


@pytest.mark.parametrize(
    ("variable", "complaint"),
    [
        ("EDGE_ASR_ENGINE_TREADS", "is no setting; did you mean EDGE_ASR_ENGINE_THREADS?"),
        ("EDGE_ASR_ENIGNE_THREADS", "is no setting; did you mean EDGE_ASR_ENGINE_THREADS?"),
        ("EDGE_ASR_ENGINE_WXYZ", "EDGE_ASR_ENGINE_WXYZ is no setting"),
    ],
)
def test_a_misspelt_variable_is_refused(variable, complaint) -> None:
    with pytest.raises(ConfigurationError, match=complaint):
        environment_layer({variable: "1"})


@pytest.mark.parametrize("variable", ["EDGE_ASR_HOME", "EDGE_ASR_BUILD_HOST", "OTHER_ENGINE_THREADS"])
def test_variables_of_others_are_left_alone(variable) -> None:
    assert environment_layer({variable: "/x"}).values == {}


def test_an_empty_variable_counts_as_not_set() -> None:
    assert environment_layer({"EDGE_ASR_ENGINE_THREADS": ""}).values == {}


def test_a_value_of_the_wrong_type_in_a_variable_is_named() -> None:
    with pytest.raises(ConfigurationError, match=r"EDGE_ASR_ENGINE_THREADS: engine\.threads = 'many' is not a whole"):
        environment_layer({"EDGE_ASR_ENGINE_THREADS": "many"})


def test_every_value_outside_its_range_is_named_at_once() -> None:
    wrong = toml_layer("[engine]\nthreads = 0\nmax_active_paths = 0\n[server]\nport = -1\n", "a.toml")

    with pytest.raises(ConfigurationError) as raised:
        merge([wrong])

    assert str(raised.value).splitlines() == [
        "engine.threads = 0 is outside 1 to 64 (set by a.toml)",
        "engine.max_active_paths = 0 is outside 1 to 64 (set by a.toml)",
        "server.port = -1 is outside 0 to 65535 (set by a.toml)",
    ]


def test_two_settings_that_need_each_other_are_fine_together_and_named_once_when_one_is_missing() -> None:
    merge([toml_layer('[server]\ntls_cert = "a"\ntls_key = "b"\n', "a.toml")])

    with pytest.raises(ConfigurationError) as raised:
        merge([toml_layer('[server]\ntls_cert = "a"\n', "a.toml")])

    assert str(raised.value).count("only useful together") == 1


def test_a_value_outside_its_range_names_who_set_it() -> None:
    layer = Layer({"engine.threads": 99}, {"engine.threads": "--threads"})

    with pytest.raises(ConfigurationError, match=r"engine\.threads = 99 is outside 1 to 64 \(set by --threads\)"):
        merge([layer])


def test_the_user_s_file_beats_the_system_s(alone: Path) -> None:
    system, user = configuration.SYSTEM_FILE, alone / ".config" / "edge-asr" / "edge-asr.toml"
    for path, threads in ((system, 2), (user, 3)):
        path.parent.mkdir(parents=True)
        path.write_text(f"[engine]\nthreads = {threads}\n[endpoint]\nsilence_ms = {threads}00")
    user.write_text("[engine]\nthreads = 3")

    merged = load({"HOME": str(alone)})

    assert (merged.settings.engine.threads, merged.origins["engine.threads"]) == (3, str(user))
    assert (merged.settings.endpoint.silence_ms, merged.origins["endpoint.silence_ms"]) == (200, str(system))


def test_a_named_file_replaces_both(alone: Path, tmp_path: Path) -> None:
    configuration.SYSTEM_FILE.parent.mkdir(parents=True)
    configuration.SYSTEM_FILE.write_text("[engine]\nthreads = 2")
    (tmp_path / "named.toml").write_text("[endpoint]\nsilence_ms = 700")

    merged = load({}, tmp_path / "named.toml")

    assert merged.settings.engine.threads == 1
    assert merged.settings.endpoint.silence_ms == 700


def test_a_named_file_that_is_missing_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="cannot be read: No such file"):
        load({}, tmp_path / "missing.toml")


def test_a_user_without_a_home_has_no_file_of_his_own(alone: Path) -> None:
    assert load({}).settings == Settings()


def test_every_setting_has_a_variable_of_its_own() -> None:
    variables = [key.variable for key in KEYS.values()]

    assert len(set(variables)) == len(variables)
    assert KEYS["server.tls_cert"].variable == "EDGE_ASR_SERVER_TLS_CERT"


def test_values_out_of_range_are_told_together_with_those_of_a_wrong_type() -> None:
    with pytest.raises(ConfigurationError) as caught:
        toml_layer('[limits]\nmax_sessions = 0\n[engine]\nthreads = "x"\nprovidr = "cpu"\n', "a.toml")
    assert str(caught.value).splitlines() == [
        "a.toml: engine.threads = 'x' is not a whole number",
        "a.toml: unknown setting engine.providr; did you mean engine.provider?",
        "a.toml: limits.max_sessions = 0 is outside 1 to 10000",
    ]


def test_a_file_may_begin_with_a_byte_order_mark(tmp_path) -> None:
    path = tmp_path / "edge-asr.toml"
    path.write_bytes(b"\xef\xbb\xbf[engine]\nthreads = 3\n")

    assert merge([read_layer(path)]).settings.engine.threads == 3


def test_a_file_without_an_end_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="/dev/zero holds more than 1048576 characters"):
        read_layer(Path("/dev/zero"))


def test_an_empty_wake_phrase_is_refused(tmp_path) -> None:
    path = tmp_path / "edge-asr.toml"
    path.write_text('[wake]\nphrases = ["hey computer", " "]\n')

    with pytest.raises(ConfigurationError, match=r"wake\.phrases holds an empty phrase; leave it out"):
        merge([read_layer(path)])
