"""Documents as the indexes write them: packuments, files of the simple API, project JSON, attestations."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping
from typing import Any

SLSA = "https://slsa.dev/provenance/v1"
PUBLISH = "https://github.com/npm/attestation/tree/main/specs/publish/v0.1"
PYPI_PUBLISH = "https://docs.example.org/attestations/publish/v1"


def packument(name: str, *versions: str, **members: Any) -> dict[str, Any]:
    """A full packument: one month between two versions, the last one is `latest`. `members` go into every version."""
    listed = versions or ("1.0.0",)
    times = {version: f"2026-{month:02}-03T10:00:00.000Z" for month, version in enumerate(listed, start=1)}
    return {
        "_id": name,
        "name": name,
        "dist-tags": {"latest": listed[-1]},
        "versions": {version: manifest(name, version, **members) for version in listed},
        "time": {"created": "2026-01-03T10:00:00.000Z", "modified": "2026-11-01T00:00:00.000Z", **times},
        "maintainers": [{"name": "ada", "email": "ada@example.org"}, {"name": "grace", "email": "grace@example.org"}],
        "license": "MIT",
        "readme": "# A server\n\nIt serves.",
        "readmeFilename": "README.md",
    }


def manifest(name: str, version: str, **members: Any) -> dict[str, Any]:
    """A version of a packument: its package.json and what the registry adds."""
    short = name.rsplit("/", 1)[-1]
    content = f"{name}@{version}".encode()
    return {
        "name": name,
        "version": version,
        "license": "MIT",
        "repository": {"type": "git", "url": "git+https://github.com/Example/servers.git", "directory": "src/one"},
        "engines": {"node": ">=20"},
        "mcpName": "io.github.example/one",
        "scripts": {"build": "tsc", "prepare": "npm run build", "test": "vitest"},
        "dist": {
            "integrity": "sha512-" + base64.b64encode(hashlib.sha512(content).digest()).decode(),
            "shasum": hashlib.sha1(content).hexdigest(),
            "tarball": f"{name}/-/{short}-{version}.tgz",
            "fileCount": 7,
            "unpackedSize": 4321,
            "signatures": [{"keyid": "SHA256:abc", "sig": "MEUCIQ"}],
        },
        **members,
    }


def shortened(document: Mapping[str, Any]) -> dict[str, Any]:
    """The abbreviated form, which npm's installer asks for: no dates, and of package.json only what it needs."""
    kept = {"name", "version", "dist", "engines", "deprecated", "dependencies", "bin"}
    versions = {
        version: {name: value for name, value in table.items() if name in kept}
        | ({"hasInstallScript": True} if {"preinstall", "install", "postinstall"} & table["scripts"].keys() else {})
        for version, table in document["versions"].items()
    }
    short = {name: document[name] for name in ("name", "dist-tags")}
    return {**short, "modified": "2026-11-01T00:00:00.000Z", "versions": versions}


def attested(name: str, version: str, **members: Any) -> dict[str, Any]:
    """A version that was published with provenance."""
    table = manifest(name, version, **members)
    address = f"-/npm/v1/attestations/{name}@{version}"
    table["dist"]["attestations"] = {"url": address, "provenance": {"predicateType": SLSA}}
    return table


def statement(predicate_type: str, predicate: Mapping[str, Any]) -> str:
    """An in-toto statement as an envelope holds it."""
    table = {"_type": "https://in-toto.io/Statement/v1", "predicateType": predicate_type, "predicate": predicate}
    return base64.b64encode(json.dumps(table).encode()).decode()


def slsa_answer(repository: str) -> dict[str, Any]:
    """What the attestation endpoint answers: npm's own publish attestation and the build's provenance."""
    workflow = {"repository": repository, "ref": "refs/heads/main", "path": ".github/workflows/release.yml"}
    slsa = statement(SLSA, {"buildDefinition": {"externalParameters": {"workflow": workflow}}})
    publish = statement(PUBLISH, {"name": "x", "version": "1.0.0"})
    return {
        "attestations": [
            {"predicateType": PUBLISH, "bundle": {"dsseEnvelope": {"payload": publish}}},
            {"predicateType": SLSA, "bundle": {"dsseEnvelope": {"payload": slsa}}},
        ]
    }


def pep740(repository: str) -> dict[str, Any]:
    """A provenance object of PEP 740."""
    publisher = {"kind": "GitHub", "repository": repository, "workflow": "release.yml", "environment": None}
    envelope = {"statement": statement(PYPI_PUBLISH, {}), "signature": "MEUCIQ"}
    bundle = {"publisher": publisher, "attestations": [{"version": 1, "envelope": envelope}]}
    return {"version": 1, "attestation_bundles": [bundle]}


def file(filename: str, *, uploaded: str = "2026-03-03T10:00:00.123456Z", **members: Any) -> dict[str, Any]:
    """A file of the simple API."""
    return {
        "filename": filename,
        "url": f"../../files/{filename}",
        "hashes": {"sha256": hashlib.sha256(filename.encode()).hexdigest()},
        "requires-python": ">=3.10",
        "size": 1234,
        "upload-time": uploaded,
        "yanked": False,
        "core-metadata": False,
        "provenance": None,
        **members,
    }


def project_json(name: str, version: str, **info: Any) -> dict[str, Any]:
    """The project JSON of the Python index."""
    return {
        "info": {
            "name": name,
            "version": version,
            "author": "Ada",
            "author_email": "Ada <ada@example.org>",
            "classifiers": ["License :: OSI Approved :: MIT License"],
            "description": "# A server\n\n<!-- mcp-name: io.github.example/two -->\n",
            "license": None,
            "license_expression": None,
            "project_urls": {"Repository": "https://github.com/example/servers/tree/main/src/two"},
            "requires_python": ">=3.10",
            **info,
        },
        "ownership": {"roles": [{"role": "Owner", "user": "ada"}, {"role": "Maintainer", "user": "grace"}]},
        "urls": [],
    }
