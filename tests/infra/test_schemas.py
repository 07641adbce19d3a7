"""The deployments as the tools of others see them: systemd here, the rest (`make live`) from the package registries."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
import yaml

from tests.infra.deployment import INFRA, ROOT, compose, manifests
from tests.workers import world
from tests.workers.observability.test_metrics import OVERVIEW
from workers.observability.metrics import render_metrics

KUBERNETES = "1.34"


def run(*words: str | Path, cwd: Path) -> str:
    done = subprocess.run([str(word) for word in words], cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{words}\n{done.stdout}\n{done.stderr}"
    return done.stdout + done.stderr


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="no systemd-analyze here")
def test_systemd_accepts_the_units(tmp_path: Path) -> None:
    """With the paths of this checkout, since systemd looks whether a command is there."""
    for path in (INFRA / "systemd").iterdir():
        text = path.read_text().replace("/opt/hallmark/.venv/bin", str(Path(sys.executable).parent))
        name = path.name.replace("@.", "@probe.")
        (tmp_path / path.name).write_text(text.replace("/opt/hallmark", str(ROOT)))
        (tmp_path / name).write_text(text.replace("/opt/hallmark", str(ROOT)))
    units = sorted(path for path in tmp_path.iterdir() if "@." not in path.name)
    said = run("systemd-analyze", "verify", "--man=no", *units, cwd=tmp_path)
    assert [line for line in said.splitlines() if "hallmark" in line] == []


@pytest.mark.skipif(shutil.which("kubectl") is None, reason="no kubectl here: kustomize is not tried")
@pytest.mark.parametrize("folder", ["base", "sandbox"])
def test_kustomize_builds_the_manifests(folder: str, tmp_path: Path) -> None:
    built = run("kubectl", "kustomize", INFRA / "kubernetes" / folder, cwd=tmp_path)
    documents = list(yaml.safe_load_all(built))
    built_names = {(one["kind"], one["metadata"]["name"]) for one in documents}
    assert {(one["kind"], one["metadata"]["name"]) for one in manifests()} <= built_names
    assert {one["metadata"].get("namespace", "hallmark") for one in documents} == {"hallmark"}
    name = "hallmark-sandbox"
    [worker] = [one for one in documents if one["metadata"]["name"] == name and one["kind"] == "Deployment"]
    context = worker["spec"]["template"]["spec"]["containers"][0]["securityContext"]
    assert context["allowPrivilegeEscalation"] is False
    assert ("procMount" in context) == (folder == "sandbox")


@pytest.fixture(scope="session")
def tools(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Schemas from the package index."""
    folder = tmp_path_factory.mktemp("tools")
    names = ["check-jsonschema", "kubernetes-validate"]
    run(sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", folder, *names, cwd=folder)
    return folder


@pytest.mark.live
def test_the_schema_of_compose_accepts_the_file(tools: Path) -> None:
    schema = json.loads((tools / "check_jsonschema/builtin_schemas/vendor/compose-spec.json").read_text())
    validator = jsonschema_rs.validator_for(schema)
    known = {name: part for name, part in compose().items() if not name.startswith("x-")}
    assert [error.message for error in validator.iter_errors(known)] == []
    known["services"]["probe"]["read_onyl"] = True
    assert not validator.is_valid(known)


def validator_of(tools: Path, document: dict[str, Any]) -> Any:
    [folder] = tools.glob(f"kubernetes_validate/kubernetes-json-schema/v{KUBERNETES}.*-local-strict")
    group, _, version = document["apiVersion"].rpartition("/")
    name = "-".join(part for part in (document["kind"].lower(), group.split(".")[0], version) if part)

    def retrieve(uri: str) -> Any:
        return json.loads((folder / uri.rpartition("/")[2]).read_text())

    return jsonschema_rs.validator_for(
        retrieve(f"{name}.json"), retriever=retrieve, base_uri="https://schemas.invalid/"
    )


@pytest.mark.live
def test_the_schemas_of_kubernetes_accept_the_manifests(tools: Path) -> None:
    extra = yaml.safe_load_all((INFRA / "kubernetes/base/secret.example.yaml").read_text())
    for document in [*manifests(), *extra]:
        assert [error.message for error in validator_of(tools, document).iter_errors(document)] == [], document[
            "metadata"
        ]["name"]
    pod = next(one for one in manifests() if one["kind"] == "Deployment")
    pod["spec"]["template"]["spec"]["containers"][0]["readOnyl"] = True
    assert not validator_of(tools, pod).is_valid(pod)


@pytest.fixture(scope="session")
def promtool(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Debian's promtool, installed or out of the package."""
    if installed := shutil.which("promtool"):
        return Path(installed)
    if shutil.which("apt-get") is None or shutil.which("dpkg-deb") is None:
        pytest.skip("no promtool here, and no apt to fetch it: rules and alerts are not tried")
    folder = tmp_path_factory.mktemp("prometheus")
    run("apt-get", "download", "-q", "prometheus", cwd=folder)
    [package] = folder.glob("*.deb")
    run("dpkg-deb", "-x", package, folder / "root", cwd=folder)
    return folder / "root" / "usr" / "bin" / "promtool"


@pytest.mark.live
def test_promtool_accepts_the_configuration_and_the_alerts_fire_as_tested(promtool: Path) -> None:
    folder = INFRA / "prometheus"
    assert "SUCCESS" in run(promtool, "check", "config", folder / "prometheus.yml", cwd=folder)
    assert "SUCCESS" in run(promtool, "test", "rules", folder / "alerts_test.yml", cwd=folder)


@pytest.mark.live
def test_promtool_has_nothing_to_say_about_the_metrics(promtool: Path, tmp_path: Path) -> None:
    exposed = render_metrics(OVERVIEW, world.settings(tmp_path), took=0.25)
    done = subprocess.run([promtool, "check", "metrics"], input=exposed, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
