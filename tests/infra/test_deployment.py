"""What the deployments start is what the code can do: commands, options, queues, variables, files."""

from __future__ import annotations

import importlib
import json
import re
import shlex
import shutil
import socket
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import click
import pytest
import yaml
from celery.bin.celery import celery as celery_command
from uvicorn.main import main as uvicorn_command

from evidence.model import Reason
from tests.infra.deployment import (
    INFRA,
    MANIFESTS,
    NOT_APPLIED,
    OURS,
    ROOT,
    Started,
    compose,
    manifests,
    pods,
    started,
    texts,
    units,
)
from workers import schedule
from workers.cli.app import SUBCOMMANDS, load_command
from workers.log import LIBRARY_EVENT
from workers.observability.metrics import list_exposed_names
from workers.settings.environment import Settings, name_variable

STARTED = started()
STARTING_PACKAGES = {"sandbox", "retest"}
SANDBOX_OPTIONS = ["seccomp:./sandbox/seccomp.json", "apparmor:unconfined", "systempaths=unconfined"]


def parsed(command: click.Command, words: list[str]) -> tuple[dict[str, Any], list[str]]:
    """The options of a command line as the tool itself reads them; one that it does not know raises."""
    context = click.Context(command)
    options, rest, _ = command.make_parser(context).parse_args(words)
    return dict(options), rest


@pytest.mark.parametrize("one", STARTED, ids=lambda one: f"{one.where}-{one.name}")
def test_every_command_is_one_that_its_tool_understands(one: Started) -> None:
    tool, *words = one.words
    match tool:
        case "celery":
            assert words[:2] == ["-A", "workers.celery_app"]
            subcommand = celery_command.commands[words[2]]
            _, rest = parsed(subcommand, [word.replace("%%h", "%h") for word in words[3:]])
            assert rest == []
        case "uvicorn":
            options, rest = parsed(uvicorn_command, words)
            module, _, name = options["app"].partition(":") if "app" in options else rest[0].partition(":")
            assert callable(getattr(importlib.import_module(module), name))
        case "python":
            assert (ROOT / words[0]).is_file()
        case _:
            raise AssertionError(f"{one} starts something that no test knows")


def test_the_cache_of_compose_is_the_only_way_to_the_site() -> None:
    services, config = compose()["services"], (INFRA / "nginx" / "hallmark.conf").read_text()
    cache, web = services["cache"], services["web"]
    assert cache["volumes"] == ["./nginx/hallmark.conf:/etc/nginx/conf.d/default.conf:ro"]
    assert "ports" not in web
    assert f"server web:{web['command'][web['command'].index('--port') + 1]};" in config
    assert [port.rpartition(":")[2] for port in cache["ports"]] == re.findall(r"listen (\d+);", config)
    stored = re.findall(r"proxy_cache_path (\S+)", config)
    mounted = [mount.partition(":")[0] for mount in cache["tmpfs"]]
    assert all(any(path.startswith(f"{folder}/") for folder in mounted) for path in stored)


@pytest.mark.parametrize("where", ["compose", "kubernetes", "systemd"])
def test_every_queue_has_one_kind_of_worker(where: str) -> None:
    queues = [queue for one in STARTED if one.where == where for queue in one.queues]
    assert sorted(queues) == sorted(schedule.QUEUES)


@pytest.mark.parametrize("where", ["compose", "kubernetes", "systemd"])
def test_sweeps_never_wait_behind_a_shard(where: str) -> None:
    alone = [one.queues for one in STARTED if one.where == where and schedule.PUBLISH_QUEUE in one.queues]
    assert alone == [(schedule.PUBLISH_QUEUE,)]


def test_there_is_one_beat_and_one_health_app_everywhere() -> None:
    for where in ("compose", "kubernetes", "systemd"):
        words = [one.words for one in STARTED if one.where == where]
        assert sum("beat" in line for line in words) == 1
        assert sum("workers.observability.health:create_app" in line for line in words) == 1


def test_every_variable_is_a_setting() -> None:
    known = {name_variable(name) for name in Settings.__struct_fields__}
    # The Action has a variable of its own, and the tests know HALLMARK_REQUIRE.
    unknown = {
        (name, variable)
        for name, text in texts().items()
        if not name.startswith("infra/action")
        for variable in OURS.findall(text)
        if variable not in known
    }
    assert unknown == set()


def list_guide_commands() -> list[str]:
    """Every `hallmark` command line of the guide, in blocks and in the text, which may leave out the first word."""
    guide = (ROOT / "docs" / "guide" / "operations.md").read_text().replace("-n hallmark", "")  # a namespace
    blocks = re.findall(r"```console\n(.*?)```", guide, re.DOTALL)
    lines = [re.split(r" *[#|&]| > ", line[1:])[0] for line in "\n".join(blocks).splitlines() if line[:1] in "$#"]
    spans = re.findall(r"(?<!`)`([a-z][^`\n]*)`(?!`)", re.sub(r"```.*?```", "", guide, flags=re.DOTALL))
    groups = [name for name, one in SUBCOMMANDS.items() if isinstance(load_command(one.path), click.Group)]
    spans = [f"hallmark {span}" if span.split()[0] in groups and " " in span else span for span in spans]
    return [found[1] for line in (*lines, *spans) if (found := re.search(r"(?:^|\s)(?:--\s)?hallmark ([a-z].*)", line))]


@pytest.mark.parametrize("line", list_guide_commands())
def test_every_hallmark_command_of_the_guide_exists(line: str) -> None:
    name, *words = shlex.split(line)
    command = load_command(SUBCOMMANDS[name].path)
    while isinstance(command, click.Group) and words:
        command, words = command.commands[words[0]], words[1:]
    command.make_context(name, words)


def test_the_guide_contains_commands() -> None:
    assert len(list_guide_commands()) > 15
    with pytest.raises(Exception, match="No such option"):
        test_every_hallmark_command_of_the_guide_exists("night list --nonsense")
    with pytest.raises(KeyError):
        test_every_hallmark_command_of_the_guide_exists("night nonsense")


def test_every_event_of_the_guide_is_logged() -> None:
    guide = (ROOT / "docs" / "guide" / "operations.md").read_text()
    code = "".join(path.read_text() for folder in ("workers", "crawler") for path in (ROOT / folder).rglob("*.py"))
    logged = set(re.findall(r'(?:log|log\(\))\.(?:info|warning|error)\(\s*"([a-z_]+)"', code))
    named = set(re.findall(r"`([a-z]+(?:_[a-z]+)+)`", guide))
    settings = set(Settings.__struct_fields__)
    reasons = {reason.value for reason in Reason}
    others = {LIBRARY_EVENT, "pivot_root"} | list_exposed_names()  # of these the second is a system call
    assert named - logged - settings - reasons <= others
    assert "collector_failed" in named & logged


def test_the_image_has_what_the_code_needs_and_nothing_else() -> None:
    text = (INFRA / "Dockerfile").read_text()
    copied = [words[1:-1] for line in text.splitlines() if (words := line.split())[:1] == ["COPY"]]
    sources = {word for words in copied for word in words if not word.startswith("/") and "--from" not in word}
    assert all((ROOT / source).exists() for source in sources)
    packages = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["uv"]["build-backend"]["module-name"]
    assert set(packages) <= sources
    allowed = {line[1:] for line in (INFRA / "Dockerfile.dockerignore").read_text().splitlines() if line[:1] == "!"}
    assert allowed == sources
    assert re.search(r"^USER 10001:10001$", text, re.MULTILINE)
    assert "infra/install.py requirements/run.txt" in text
    assert text.count("\nFROM ") + text.startswith("FROM ") == 2


@pytest.mark.parametrize("name", list(compose()["services"]))
def test_services_of_compose_are_hardened_restarted_and_asked_for_their_health(name: str) -> None:
    service = compose()["services"][name]
    assert service["read_only"]
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true", *SANDBOX_OPTIONS * (name in STARTING_PACKAGES)]
    assert service["restart"] == "unless-stopped"
    assert service["logging"]["options"]["max-size"]
    if "build" in service:  # the image has a check of its own, and a user that is not root
        assert {"postgres", "redis"} <= service["depends_on"].keys()
        assert "disable" not in service.get("healthcheck", {})
    else:
        assert service["healthcheck"]["test"]


def test_compose_opens_no_port_to_others_and_knows_its_files() -> None:
    for name, service in compose()["services"].items():
        assert all(port.startswith("127.0.0.1:") for port in service.get("ports", [])), name
        for volume in service.get("volumes", []):
            source = volume.split(":")[0]
            assert (INFRA / source).exists() if source.startswith(".") else source in compose()["volumes"], volume


def test_no_password_has_a_default() -> None:
    text = (INFRA / "compose.yaml").read_text()
    given = dict(re.findall(r"\$\{([A-Z_]+)(:[?-])", text))
    assert {name: how for name, how in given.items() if re.search("PASSWORD|SALT", name)} == {
        "POSTGRES_PASSWORD": ":?",
        "GRAFANA_PASSWORD": ":?",
        "HALLMARK_SECRET_SALT": ":?",
    }
    example = (INFRA / "compose.env.example").read_text()
    assert set(given) == set(re.findall(r"^([A-Z_]+)=", example, re.MULTILINE))


@pytest.mark.parametrize(("name", "spec"), list(pods()), ids=lambda value: value if isinstance(value, str) else "")
def test_pods_meet_the_restricted_standard_and_have_bounds(name: str, spec: dict[str, Any]) -> None:
    assert spec["automountServiceAccountToken"] is False
    assert spec["securityContext"]["runAsNonRoot"] is True
    assert spec["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    volumes = {volume["name"] for volume in spec.get("volumes", [])}
    for container in spec["containers"]:
        context = container["securityContext"]
        assert context["allowPrivilegeEscalation"] is False
        assert context["readOnlyRootFilesystem"] is True
        assert context["capabilities"] == {"drop": ["ALL"]}
        assert container["resources"]["limits"]["memory"]
        assert {"cpu", "memory"} <= container["resources"]["requests"].keys()
        mounted = {mount["name"] for mount in container["volumeMounts"]}
        assert mounted <= volumes | {"data"}
        if "backup" not in name:
            assert "livenessProbe" in container


def test_workers_in_kubernetes_differ_in_queue_and_size_only() -> None:
    shapes = set()
    for name, spec in pods():
        if name.removeprefix("hallmark-") in {"probe", "score", "publish", "retest", "sandbox", "sources"}:
            [container] = spec["containers"]
            kept = {key: value for key, value in container.items() if key not in {"name", "args", "resources"}}
            kept["volumeMounts"] = [mount for mount in kept["volumeMounts"] if mount["name"] != "datasets"]
            others = {key: value for key, value in spec.items() if key not in {"containers", "volumes"}}
            shapes.add(yaml.safe_dump([kept, others]))
    assert len(shapes) == 1


def _by_kind(kind: str) -> dict[str, dict[str, Any]]:
    return {one["metadata"]["name"]: one for one in manifests() if one["kind"] == kind}


def test_who_publishes_with_compose_or_systemd_writes_datasets_where_the_site_reads_them() -> None:
    for name in ("beat", "publish", "web"):
        service = compose()["services"][name]
        assert "home:/var/lib/hallmark" in service["volumes"]
        assert service["environment"]["HALLMARK_DATASETS"] == "/var/lib/hallmark/datasets"
    for name in ("hallmark-beat.service", "hallmark-worker@.service", "hallmark-web.service"):
        assert units()[name]["StateDirectory"] == ["hallmark"]
        assert "HALLMARK_DATASETS=/var/lib/hallmark/datasets" in units()[name]["Environment"]


def test_workers_of_datasets_in_kubernetes_write_where_the_site_reads() -> None:
    place = _by_kind("ConfigMap")["hallmark"]["data"]["HALLMARK_DATASETS"]
    assert _by_kind("PersistentVolumeClaim")["datasets"]["spec"]["accessModes"] == ["ReadWriteMany"]
    mounted = {}
    for name, spec in pods():
        if {"name": "datasets", "persistentVolumeClaim": {"claimName": "datasets"}} in spec.get("volumes", []):
            [mount] = [one for one in spec["containers"][0]["volumeMounts"] if one["name"] == "datasets"]
            mounted[name] = (mount["mountPath"], mount.get("readOnly", False))
    writers = {"hallmark-publish": (place, False), "hallmark-score": (place, False)}
    assert mounted == {**writers, "hallmark-web": (place, True)}


def test_what_is_scaled_and_protected_exists() -> None:
    deployments = _by_kind("Deployment")
    scaled = {one["spec"]["scaleTargetRef"]["name"] for one in _by_kind("HorizontalPodAutoscaler").values()}
    assert scaled == {name for name, one in deployments.items() if "replicas" not in one["spec"]}
    for name, budget in _by_kind("PodDisruptionBudget").items():
        assert budget["spec"]["selector"] == deployments[name]["spec"]["selector"]
    for one in deployments.values():
        labels = one["spec"]["template"]["metadata"]["labels"]
        assert one["spec"]["selector"]["matchLabels"] == labels


def test_policies_name_pods_that_exist() -> None:
    components = {
        one["spec"]["template"]["metadata"]["labels"].get("app.kubernetes.io/component")
        for one in _by_kind("Deployment").values()
    }
    policies = _by_kind("NetworkPolicy")
    assert policies["nothing-in-or-out"]["spec"] == {"podSelector": {}, "policyTypes": ["Ingress", "Egress"]}
    [_, chosen] = policies["workers-to-the-internet"]["spec"]["podSelector"]["matchExpressions"]
    assert set(chosen["values"]) == {"probe", "retest", "sandbox", "sources"} <= components


def test_everything_in_the_folder_is_applied() -> None:
    listed = yaml.safe_load((MANIFESTS / "kustomization.yaml").read_text())["resources"]
    assert set(listed) - {"../../nginx"} == {path.name for path in MANIFESTS.glob("*.yaml")} - NOT_APPLIED


def test_the_overlay_changes_the_workers_that_start_packages() -> None:
    folder = INFRA / "kubernetes" / "sandbox"
    overlay = yaml.safe_load((folder / "kustomization.yaml").read_text())
    assert [(folder / one).resolve() for one in overlay["resources"]] == [MANIFESTS, INFRA / "sandbox"]
    changed = re.compile(overlay["patches"][0]["target"]["name"])
    assert {name for name in _by_kind("Deployment") if changed.fullmatch(name)} == {
        f"hallmark-{name}" for name in STARTING_PACKAGES
    }
    patch = {one["path"]: one["value"] for one in yaml.safe_load((folder / "sandbox.yaml").read_text())}
    profile = patch["/spec/template/spec/securityContext/seccompProfile"]
    [generated] = yaml.safe_load((INFRA / "sandbox" / "kustomization.yaml").read_text())["configMapGenerator"]
    assert generated["files"] == [f"{profile['localhostProfile']}=seccomp.json"]
    copying = yaml.safe_load((INFRA / "sandbox" / "nodes.yaml").read_text())["spec"]["template"]["spec"]
    assert copying["nodeSelector"] == patch["/spec/template/spec/nodeSelector"]
    assert f"cp /profile/{profile['localhostProfile']} /seccomp/" in copying["containers"][0]["command"][-1]


@pytest.mark.skipif(shutil.which("kubectl") is None, reason="kubectl renders the manifests, and is not installed")
@pytest.mark.parametrize("folder", ["base", "sandbox"])
def test_kustomize_renders_the_manifests(folder: str) -> None:
    command = ["kubectl", "kustomize", str(INFRA / "kubernetes" / folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    documents = list(yaml.safe_load_all(done.stdout))
    pods_of = [one["spec"]["template"]["spec"] for one in documents if "template" in one.get("spec", {})]
    profiled = [one for one in pods_of if one["securityContext"]["seccompProfile"]["type"] == "Localhost"]
    assert len(profiled) == (len(STARTING_PACKAGES) if folder == "sandbox" else 0)
    assert all(one["containers"][0]["securityContext"]["procMount"] == "Unmasked" for one in profiled)
    assert not [one for one in pods_of for container in one["containers"] if container["image"] == "hallmark"]


def test_the_seccomp_profile_adds_what_the_sandbox_needs_and_no_more() -> None:
    profile = json.loads((INFRA / "sandbox" / "seccomp.json").read_text())
    added, others, *conditional = profile["syscalls"]
    assert set(added["names"]) == {"clone", "unshare", "mount", "umount2", "pivot_root", "sethostname"}
    readme = (INFRA / "sandbox" / "README.md").read_text()
    assert all(f"`{name}`" in readme for name in added["names"])
    assert profile["defaultAction"] == "SCMP_ACT_ERRNO"
    dangerous = {
        "bpf",
        "kexec_load",
        "init_module",
        "keyctl",
        "mbind",
        "set_mempolicy",
        "setns",
        "open_by_handle_at",
        "perf_event_open",
        "reboot",
    }
    assert not dangerous & set(others["names"])
    families = [rule["args"][0] for rule in conditional if rule["names"] == ["socket"]]
    assert [(family["op"], family["value"]) for family in families] == [
        ("SCMP_CMP_LT", socket.AF_NETLINK),
        ("SCMP_CMP_EQ", socket.AF_NETLINK),
    ]
    assert {name for rule in conditional for name in rule["names"]} == {"personality", "socket"}
    # Docker ignores capabilities and architectures of rules in this format, containerd knows no other.
    assert all(rule.keys() <= {"action", "names", "args"} for rule in profile["syscalls"])


def test_the_cache_of_kubernetes_is_the_only_way_to_the_site() -> None:
    config = (INFRA / "nginx" / "hallmark.conf").read_text()
    cache = _by_kind("Deployment")["hallmark-cache"]["spec"]["template"]
    assert {"name": "config", "configMap": {"name": "hallmark-nginx"}} in cache["spec"]["volumes"]
    generated = yaml.safe_load((INFRA / "nginx" / "kustomization.yaml").read_text())["configMapGenerator"]
    assert generated == [{"name": "hallmark-nginx", "files": ["hallmark.conf"]}]
    services = _by_kind("Service")
    [(site, port)] = re.findall(r"server (\w+):(\d+);", config)
    assert services[site]["spec"]["selector"]["app.kubernetes.io/component"] == "web"
    assert services[site]["spec"]["ports"][0]["port"] == int(port)
    policies = _by_kind("NetworkPolicy")
    admitted = policies["web-from-cache-and-monitoring"]["spec"]["ingress"][0]
    assert admitted["from"] == [{"podSelector": {"matchLabels": cache["metadata"]["labels"]}}]
    assert admitted["ports"] == policies["cache-to-web"]["spec"]["egress"][0]["ports"] == [{"port": int(port)}]
    assert "from" not in policies["cache-from-everywhere"]["spec"]["ingress"][0]


def test_the_cache_on_a_host_listens_where_the_site_does_not() -> None:
    guide = (ROOT / "docs" / "guide" / "site.md").read_text()
    [script] = re.findall(r"sed '(.*)' infra/nginx/hallmark.conf", guide)
    command = ["sed", script, str(INFRA / "nginx" / "hallmark.conf")]
    config = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    [line] = units()["hallmark-web.service"]["ExecStart"]
    words = line.split()
    assert f"server {words[words.index('--host') + 1]}:{words[words.index('--port') + 1]};" in config
    assert "listen 80;" in config
    assert "nginx.service" in " ".join(units()["hallmark.target"]["Wants"])


def test_every_pod_may_ask_for_names_and_reaches_no_other_private_address() -> None:
    policy = _by_kind("NetworkPolicy")["names-for-all"]["spec"]
    assert policy["podSelector"] == {}
    [rule] = policy["egress"]
    assert {one["port"] for one in rule["ports"]} == {53}
    assert rule["to"] == [
        {
            "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "kube-system"}},
            "podSelector": {"matchLabels": {"k8s-app": "kube-dns"}},
        },
        {"ipBlock": {"cidr": "169.254.20.10/32"}},
    ]


def test_an_image_without_a_named_commit_is_known_by_its_code() -> None:
    text = (INFRA / "Dockerfile").read_text()
    assert "ARG COMMIT=\n" in text
    assert "HALLMARK_COMMIT=$COMMIT" in text
    assert {one["build"]["args"]["COMMIT"] for one in compose()["services"].values() if "build" in one} == {
        "${COMMIT:-}"
    }
    assert "COMMIT=$$(git rev-parse HEAD" in (ROOT / "Makefile").read_text()


def test_units_are_hardened_and_let_workers_give_back() -> None:
    for name, directives in units().items():
        if name.endswith(".service"):
            for directive in ("NoNewPrivileges", "ProtectSystem", "ProtectHome", "PrivateTmp", "CapabilityBoundingSet"):
                assert directive in directives, (name, directive)
            assert directives["User"] == ["hallmark"]
    worker = units()["hallmark-worker@.service"]
    # What would forbid the sandbox is left out on purpose.
    assert not {"RestrictNamespaces", "PrivateUsers", "ProtectProc", "SystemCallFilter"} & worker.keys()
    assert int(worker["TimeoutStopSec"][0]) >= 60
    assert worker["KillMode"] == ["mixed"]


def test_no_secret_stands_in_a_manifest() -> None:
    assert _by_kind("Secret") == {}
    example = list(yaml.safe_load_all(Path(MANIFESTS / "secret.example.yaml").read_text()))
    names = {one["metadata"]["name"] for one in example}
    used = set(re.findall(r"secretRef: \{name: ([a-z]+)\}|secretKeyRef: \{name: ([a-z]+),", "".join(texts().values())))
    assert {name for pair in used for name in pair if name} == names
