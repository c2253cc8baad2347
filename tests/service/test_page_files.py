"""The files of the page: a fixed list, small, those of others unchanged, and a policy that lets nothing else in."""

from __future__ import annotations

import asyncio
import hashlib
import re
from importlib import resources
from typing import Any

import pytest
from fastapi import FastAPI

from ragways.pictures.report import PARTS
from ragways.pictures.shell import parts_script
from ragways.service.errors import ServiceError
from ragways.service.page import LIBRARIES, page, router

FOLDER = resources.files("ragways.service") / "page"
VENDOR = resources.files("ragways.pictures") / "assets" / "vendor"
MOST_BYTES = 400 * 1024


def get(path: str, **headers: str) -> tuple[int, dict[str, str], bytes]:
    """A request to the routes of the page alone, without a socket."""
    app, sent = FastAPI(openapi_url=None), []
    app.include_router(router)
    scope = {
        "type": "http", "method": "GET", "path": path, "raw_path": path.encode(), "query_string": b"",
        "http_version": "1.1",
        "headers": [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()],
        "root_path": "",
    }  # fmt: skip

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Any) -> None:
        sent.append(message)

    asyncio.run(app(scope, receive, send))
    return (
        sent[0]["status"],
        {name.decode(): value.decode() for name, value in sent[0]["headers"]},
        b"".join(message.get("body", b"") for message in sent[1:]),
    )


def asset(name: str) -> str:
    return f"/assets/{page().version}/{name}"


def test_libraries_of_others_are_what_their_table_says():
    table = (VENDOR / "VENDOR.md").read_text()
    rows = [
        re.findall(r"[^|\s][^|]*[^|\s]", line)
        for line in table.splitlines()
        if re.match(r"\| \S+\.(js|mjs|css) ", line)
    ]
    told = {row[0]: row[-1] for row in rows}
    there = {item.name: item for item in VENDOR.iterdir() if item.name.endswith((".js", ".mjs", ".css"))}
    assert told.keys() == there.keys()
    assert told == {name: hashlib.sha256(item.read_bytes()).hexdigest() for name, item in there.items()}
    licences = {match for row in rows for match in re.findall(r"\(([\w.-]+\.LICENSE)\)", row[4])}
    assert len({row[1] for row in rows}) == len(licences)
    assert all((VENDOR / name).read_text().strip() for name in licences)


def test_all_files_together_are_small():
    sizes = {name: len(file.body) for name, file in page().files.items()}
    assert sum(sizes.values()) + len(page().html.body) <= MOST_BYTES, sizes


def test_every_import_is_served_under_the_name_it_is_asked_by():
    missing = []
    for name, file in page().files.items():
        if not name.endswith(".js") or name.startswith("vendor/"):
            continue
        for target in re.findall(r"""(?:} from |import htm from |import\()["']([^"']+)["']""", file.body.decode()):
            parts = name.split("/")[:-1]
            for step in target.split("/"):
                parts = parts[:-1] if step == ".." else parts if step == "." else [*parts, step]
            if (target.startswith(".") and "/".join(parts) not in page().files) or (
                not target.startswith(".") and target not in LIBRARIES
            ):
                missing.append((name, target))
    assert missing == []


def test_files_are_chapters():
    lengths = {
        n: f.body.count(b"\n") for n, f in page().files.items() if "vendor" not in n and n.endswith((".js", ".css"))
    }
    assert {name: lines for name, lines in lengths.items() if lines > 400} == {}


def test_the_page_lets_nothing_else_in():
    status, headers, body = get("/")
    assert status == 200
    assert headers["content-type"] == "text/html; charset=utf-8"
    policy = headers["content-security-policy"]
    for rule in ("default-src 'none'", "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'",
                 "require-trusted-types-for 'script'", "connect-src 'self'"):  # fmt: skip
        assert rule in policy
    assert "unsafe" not in policy
    assert "http" not in policy
    inline = re.findall(rb"<script(?![^>]*\ssrc=)[^>]*>", body)
    assert inline == [b'<script type="importmap">'], (
        "names of modules, which the policy knows by their hash; nothing that runs"
    )
    assert b"<style" not in body
    assert b"style=" not in body
    assert not re.search(rb"\son\w+=", body)


def test_a_file_is_kept_for_good_and_the_page_is_asked_for_anew():
    status, headers, body = get(asset("start.js"))
    assert (status, headers["content-type"]) == (200, "text/javascript; charset=utf-8")
    assert "immutable" in headers["cache-control"]
    assert headers["x-content-type-options"] == "nosniff"
    assert body == (FOLDER / "start.js").read_bytes()
    status, headers, body = get("/")
    assert headers["cache-control"] == "no-cache"
    assert asset("start.js").encode() in body
    status, again, body = get("/", if_none_match=f'W/"x", {headers["etag"]}')
    assert (status, body) == (304, b"")
    assert again["etag"] == headers["etag"]
    assert get("/", if_none_match='"another"')[0] == 200


@pytest.mark.parametrize(
    "name",
    ["index.html", "vendor/VENDOR.md", "vendor/preact.LICENSE", "../page.py", "..%2fpage.py", "/etc/passwd", "",
     "parts", "parts/", "start.js/", "start.js\0", "./start.js", "parts/../start.js"],
)  # fmt: skip
def test_only_what_is_on_the_list_is_served(name: str):
    with pytest.raises(ServiceError) as error:
        get(asset(name))
    assert error.value.status == 404


def test_files_of_another_version_are_not_mixed_in():
    with pytest.raises(ServiceError):
        get("/assets/0000000000000000/start.js")


def test_no_part_makes_html_of_a_string():
    written = {
        (name, sign)
        for name, file in page().files.items()
        for sign in (
            "innerHTML",
            "outerHTML",
            "insertAdjacentHTML",
            "document.write",
            "dangerouslySet",
            "eval(",
            "new Function",
        )
        if not name.startswith("vendor/") and sign.encode() in file.body
    }
    assert written == set()


def test_reports_are_made_of_the_same_parts():
    """As modules on the page, as one script in a report: the same lines, but for what joins modules."""
    script = parts_script(*PARTS)
    assert not re.search(r"^(import|export)\b|\bexport ?[{d]", script, re.MULTILINE)
    for name in PARTS:
        module = page().files[f"parts/{name}.js"].body.decode()
        lines = [line.removeprefix("export ") for line in module.splitlines() if not line.startswith("import ")]
        assert "\n".join(lines) in script
    assert b'from "../parts/plot.js"' in page().files["evaluate/run.js"].body
