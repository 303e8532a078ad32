"""Compose file and Kubernetes manifests: valid by their schemas, and true to what the daemon really has."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import kubernetes_validate
import pytest
import yaml
from click.testing import CliRunner

from edge_asr.cli.configuration import KEYS, environment_layer, merge, toml_layer
from edge_asr.cli.main import cli
from edge_asr.metrics.exposition import new_registry
from edge_asr.metrics.instruments import Instruments
from edge_asr.servers.http import OPEN_PATHS

ROOT = Path(__file__).resolve().parent.parent
KUBERNETES = ROOT / "packaging" / "kubernetes"
COMPOSE = ROOT / "packaging" / "compose" / "compose.yaml"
VERSION = "1.32"
"""Of Kubernetes: what k3s brings that Debian's users install today."""

LISTED = yaml.safe_load((KUBERNETES / "kustomization.yaml").read_text())["resources"]


def manifest(name: str) -> dict[str, Any]:
    document: dict[str, Any] = yaml.safe_load((KUBERNETES / name).read_text())
    return document


def container() -> dict[str, Any]:
    (only,) = manifest("deployment.yaml")["spec"]["template"]["spec"]["containers"]
    found: dict[str, Any] = only
    return found


def settings_of_pods() -> Any:
    text = manifest("configuration.yaml")["data"]["edge-asr.toml"]
    return merge([toml_layer(text, "edge-asr.toml")]).settings


class TestKubernetes:
    @pytest.mark.parametrize("name", LISTED)
    def test_it_is_valid(self, name) -> None:
        kubernetes_validate.validate(manifest(name), VERSION, strict=True)

    def test_a_misspelt_field_would_be_found(self) -> None:
        wrong = manifest("deployment.yaml")
        wrong["spec"]["replica"] = 1
        with pytest.raises(kubernetes_validate.ValidationError):
            kubernetes_validate.validate(wrong, VERSION, strict=True)

    def test_all_in_one_namespace(self) -> None:
        namespaces = {manifest(name)["metadata"].get("namespace") for name in LISTED if name != "namespace.yaml"}
        assert namespaces == {manifest("namespace.yaml")["metadata"]["name"]}

    def test_everything_points_at_the_same_pods(self) -> None:
        labels = manifest("deployment.yaml")["spec"]["template"]["metadata"]["labels"]
        assert manifest("service.yaml")["spec"]["selector"] == labels
        for selector in (
            manifest("deployment.yaml")["spec"]["selector"],
            manifest("disruption-budget.yaml")["spec"]["selector"],
            manifest("network-policy.yaml")["spec"]["podSelector"],
        ):
            assert selector["matchLabels"] == labels
        target = manifest("autoscaler.yaml")["spec"]["scaleTargetRef"]
        assert (target["kind"], target["name"]) == ("Deployment", manifest("deployment.yaml")["metadata"]["name"])

    def test_probes_ask_what_answers_without_a_token(self) -> None:
        probes = [container()[kind]["httpGet"] for kind in ("startupProbe", "livenessProbe", "readinessProbe")]
        assert {probe["path"] for probe in probes} == {"/health/live", "/health/ready"}
        assert {probe["path"] for probe in probes} <= set(OPEN_PATHS)

    def test_the_configuration_is_one(self) -> None:
        settings = settings_of_pods()
        mounted = {mount["name"]: mount["mountPath"] for mount in container()["volumeMounts"]}
        assert settings.server.token_file == f"{mounted['token']}/token"
        assert container()["args"][-1] == f"{mounted['configuration']}/edge-asr.toml"
        assert container()["ports"][0]["containerPort"] == settings.server.port

    def test_pods_have_the_time_to_drain(self) -> None:
        grace_s = manifest("deployment.yaml")["spec"]["template"]["spec"]["terminationGracePeriodSeconds"]
        assert grace_s > settings_of_pods().server.drain_s

    def test_the_autoscaler_asks_for_a_metric_that_the_daemon_has_and_that_the_adapter_hands_on(self) -> None:
        (metric,) = manifest("autoscaler.yaml")["spec"]["metrics"]
        name = metric["pods"]["metric"]["name"]
        registry = new_registry()
        Instruments(registry)
        assert name in {family.name for family in registry.collect()}
        (rule,) = manifest("prometheus-adapter.yaml")["rules"]["custom"]
        assert rule["name"]["as"] == name
        assert int(metric["pods"]["target"]["averageValue"]) < settings_of_pods().limits.max_sessions


class TestCompose:
    def test_it_is_valid(self) -> None:
        schema = json.loads((ROOT / "tests" / "data" / "compose-spec" / "compose-spec.json").read_text())
        jsonschema.Draft7Validator(schema).validate(yaml.safe_load(COMPOSE.read_text()))

    def test_it_has_limits_and_never_swaps(self) -> None:
        service = yaml.safe_load(COMPOSE.read_text())["services"]["edge-asr"]
        assert service["mem_limit"] == service["memswap_limit"]
        assert "cpus" not in service
        assert service["cpuset"].endswith("1-3}")

    def test_commands_exist(self) -> None:
        service = yaml.safe_load(COMPOSE.read_text())["services"]["edge-asr"]
        for words in (service["command"], service["healthcheck"]["test"][2:]):
            assert CliRunner().invoke(cli, [*words, "--help"]).exit_code == 0

    def test_variables_are_settings(self) -> None:
        service = yaml.safe_load(COMPOSE.read_text())["services"]["edge-asr"]
        settings = {name: "x" for name in service["environment"] if name != "EDGE_ASR_HOME"}
        assert set(settings) <= {key.variable for key in KEYS.values()}
        assert environment_layer(settings).values.keys() == {"server.token_file", "server.allow"}
