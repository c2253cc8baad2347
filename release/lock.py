"""What ships with ragways, read from requirements.lock: a list of it (SBOM), and whether any is known to be unsafe.

    python release/lock.py sbom dist        write a CycloneDX list there, of all locked packages and the model inside
    python release/lock.py audit            ask a database of vulnerabilities about each (needs the network)

The audit ends with 0 where nothing is known, 1 where something is, and 2 where the database could not be asked.
`--source` names another database that speaks OSV's batch protocol. Only names and versions are sent.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tomllib
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.request import Request, urlopen

ROOT = Path(__file__).parent.parent
OSV = "https://api.osv.dev/v1/querybatch"
_PINNED = re.compile(r"^([A-Za-z0-9][A-Za-z0-9._-]*)==([^\s;\\]+)(?:\s*;\s*([^\\]*[^\\\s]))?", re.MULTILINE)
_HASH = re.compile(r"--hash=sha256:([0-9a-f]{64})")
NOT_ASKED = 2


@dataclass(frozen=True, slots=True)
class Package:
    """One pinned package: `marker` tells on which systems it is used, `hashes` are those of its files."""

    name: str
    version: str
    marker: str
    hashes: tuple[str, ...]

    @property
    def purl(self) -> str:
        return f"pkg:pypi/{re.sub(r'[-_.]+', '-', self.name).lower()}@{self.version}"


def read_lock(text: str) -> list[Package]:
    """The packages of a lock, in its order. ValueError where one has no hash: such a lock does not pin what is run."""
    starts = list(_PINNED.finditer(text))
    ends = [match.start() for match in starts[1:]] + [len(text)]
    packages = [
        Package(match[1], match[2], (match[3] or "").strip(), tuple(_HASH.findall(text, match.start(), end)))
        for match, end in zip(starts, ends, strict=True)
    ]
    for package in packages:
        if not package.hashes:
            raise ValueError(f"{package.name} has no hash in the lock")
    return packages


def sbom(packages: list[Package], name: str, version: str, weights: dict[str, Any]) -> dict[str, Any]:
    """A CycloneDX 1.5 list. The same lock and weights give the same list, byte for byte: it holds no time."""
    own = f"pkg:pypi/{name}@{version}"
    serial = uuid.uuid5(uuid.NAMESPACE_URL, own + "".join(package.purl for package in packages))
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "serialNumber": f"urn:uuid:{serial}",
        "version": 1,
        "metadata": {"component": {"type": "library", "bom-ref": own, "name": name, "version": version, "purl": own}},
        "components": [*map(_component, packages), *_models(weights)],
        "dependencies": [{"ref": own, "dependsOn": [package.purl for package in packages]}],
    }


def _component(package: Package) -> dict[str, Any]:
    component: dict[str, Any] = {
        "type": "library",
        "bom-ref": package.purl,
        "name": package.name,
        "version": package.version,
        "purl": package.purl,
        "hashes": [{"alg": "SHA-256", "content": each} for each in package.hashes],
    }
    if package.marker:
        component["properties"] = [{"name": "ragways:marker", "value": package.marker}]
    return component


READER = "reader.onnx"


def _models(weights: dict[str, Any]) -> list[dict[str, Any]]:
    """The models that the wheel carries, by the manifest of their files: the embedder, and the reader made from it."""
    origin, files = weights["origin"], weights["files"]
    embedder = _model(origin["model"], origin["licence"], [file for name, file in files.items() if name != READER])
    embedder["externalReferences"] = [{"type": "distribution", "url": origin["published at"]}]
    reader = _model("ragways/reader", weights["reader"]["licence"], [files[READER]])
    return [embedder, {**reader, "description": weights["reader"]["from"]}]


def _model(name: str, licence: str, files: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "type": "machine-learning-model",
        "bom-ref": name,
        "name": name,
        "licenses": [{"license": {"id": licence}}],
        "hashes": [{"alg": "SHA-256", "content": file["sha256"]} for file in files],
    }


def audit(packages: list[Package], source: str = OSV) -> int:
    """Ask for all packages at once, and say what is known. See the top of this file for what it returns."""
    queries = [{"package": {"purl": package.purl}} for package in packages]
    request = Request(source, json.dumps({"queries": queries}).encode(), {"Content-Type": "application/json"})  # noqa: S310
    try:
        with urlopen(request, timeout=30) as reply:  # noqa: S310 - the address is ours or the caller's
            results = json.loads(reply.read(10_000_000))["results"]
        known = [[str(found["id"]) for found in result.get("vulns", [])] for result in results]
    except (URLError, OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        print(f"not checked: {source} could not be asked ({getattr(error, 'reason', error)})")
        return NOT_ASKED
    if len(known) != len(packages):
        print(f"not checked: {source} answered for {len(known)} of {len(packages)} packages")
        return NOT_ASKED
    for package, ids in zip(packages, known, strict=True):
        if ids:
            print(f"{package.name} {package.version}: {', '.join(ids)}")
    unsafe = sum(map(bool, known))
    print(f"{unsafe} of {len(packages)} locked packages have known vulnerabilities")
    return int(unsafe > 0)


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("sbom").add_argument("folder", type=Path)
    commands.add_parser("audit").add_argument("--source", default=OSV)
    options = parser.parse_args(arguments)
    packages = read_lock((ROOT / "requirements.lock").read_text(encoding="utf-8"))
    if options.command == "audit":
        return audit(packages, options.source)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    options.folder.mkdir(parents=True, exist_ok=True)
    file = options.folder / f"{project['name']}-{project['version']}.cdx.json"
    weights = json.loads((ROOT / "src/ragways/models/weights/manifest.json").read_text(encoding="utf-8"))
    found = sbom(packages, project["name"], project["version"], weights)
    file.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    print(f"{file}: {len(packages)} packages and 2 models")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
