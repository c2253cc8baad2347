"""How smooth the graph of the page is: frames while 5,000 entities and 10,000 lines are moved and zoomed.

    python benchmarks/page_graph.py [NODES] [EDGES]

The page is the real one, in headless Chromium; the graph is generated. Without a GPU, WebGL is computed on the CPU,
which is the slow case: what a frame takes then is an upper bound.
"""

from __future__ import annotations

import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import uvicorn
from fastapi import FastAPI

sys.path.insert(0, str(Path(__file__).parent.parent))

from ragways.pictures.graph_map import places_of
from ragways.service.page import router
from tests.apps.browser import Browser

RECORD = """(() => {
  const sigma = document.querySelector('.stage').sigma, found = window.found = { frames: [], drawn: [], on: true };
  let last = performance.now(), began = 0;
  sigma.on('beforeRender', () => { began = performance.now(); });
  sigma.on('afterRender', () => { if (found.on) found.drawn.push(performance.now() - began); });
  const turn = () => {
    const now = performance.now();
    found.frames.push(now - last);
    last = now;
    if (found.on) requestAnimationFrame(turn);
  };
  requestAnimationFrame(turn);
})()"""
MIDDLE = """(() => {
  const box = document.querySelector('.stage').getBoundingClientRect();
  return [box.x + box.width / 2, box.y + box.height / 2];
})()"""
SECONDS = 4.0
RENDERER = """(() => {
  const context = document.createElement('canvas').getContext('webgl2');
  return context.getParameter(context.getExtension('WEBGL_debug_renderer_info').UNMASKED_RENDERER_WEBGL);
})()"""


def generated(nodes: int, edges: int) -> dict[str, Any]:
    """Communities of a power law, most lines inside them, hubs as real graphs have."""
    dice = np.random.default_rng(7)
    of = dice.zipf(1.4, nodes) % 40
    left = (dice.power(0.6, edges) * nodes).astype(np.int64)
    near = np.array([dice.choice(np.flatnonzero(of == of[one])) for one in left])
    right = np.where(dice.random(edges) < 0.8, near, dice.integers(0, nodes, edges))
    degrees = np.bincount(np.concatenate([left, right]), minlength=nodes)
    places = places_of([str(group) for group in of], left, right)
    sizes = np.bincount(of)
    return {
        "nodes": [
            {"id": f"entity:{n}", "name": f"Entity {n}", "type": "place", "kind": "place", "degree": int(degrees[n]),
             "community": f"community:{of[n]}", "x": round(x, 1), "y": round(y, 1)}
            for n, (x, y) in enumerate(places.tolist())
        ],
        "edges": sorted({(min(a, b), max(a, b)) for a, b in zip(left.tolist(), right.tolist(), strict=True) if a != b}),
        "entities": nodes,
        "communities": [
            {"id": f"community:{n}", "size": int(sizes[n]), "title": f"Community {n}"}
            for n in np.argsort(-sizes, kind="stable").tolist()
        ],
    }  # fmt: skip


def app(graph: dict[str, Any]) -> FastAPI:
    made = FastAPI()
    made.include_router(router)
    graph["edges"] = [[a, b, 1.0] for a, b in graph["edges"]]
    one = {"name": "generated", "managed": False, "documents": 1, "chunks": 1, "layers": ["graph"]}
    replies: dict[str, Any] = {
        "me": {"tenant": "main", "scopes": ["read"], "model": False},
        "paradigms": [],
        "collections": {"collections": [one]},
        "collections/generated/graph": graph,
        "collections/generated/communities": {"levels": [0], "total": 0, "communities": []},
    }
    for path, reply in replies.items():
        made.get(f"/api/v1/{path}")(lambda reply=reply: reply)
    return made


def moved(browser: Browser, way: str) -> tuple[np.ndarray, np.ndarray]:
    """Frames, and what of each was our script, while the mouse drags the picture or its wheel zooms it."""
    x, y = browser.ask(MIDDLE)
    mouse = {"button": "left", "clickCount": 1}
    if way == "dragged":
        browser.send("Input.dispatchMouseEvent", type="mousePressed", x=x, y=y, **mouse)
    browser.ask(RECORD)
    until, n = time.monotonic() + SECONDS, 0
    while time.monotonic() < until:
        n += 1
        if way == "dragged":
            at = {"x": x + 200 * np.sin(n / 10), "y": y + 150 * np.cos(n / 10)}
            browser.send("Input.dispatchMouseEvent", type="mouseMoved", buttons=1, **at, **mouse)
        else:
            turn = 120 if n % 20 < 10 else -120
            browser.send("Input.dispatchMouseEvent", type="mouseWheel", x=x, y=y, deltaX=0, deltaY=turn)
            time.sleep(0.05)
    found = browser.ask("(() => { found.on = false; return found; })()")
    if way == "dragged":
        browser.send("Input.dispatchMouseEvent", type="mouseReleased", x=x, y=y, **mouse)
    return np.array(found["frames"][2:]), np.array(found["drawn"][2:])


def main() -> None:
    nodes, edges = (int(given) for given in (*sys.argv[1:], "5000", "10000")[:2])
    server = uvicorn.Server(uvicorn.Config(app(generated(nodes, edges)), port=0, log_level="error"))
    threading.Thread(target=server.run, daemon=True).start()
    while not server.started:
        time.sleep(0.05)
    port = server.servers[0].sockets[0].getsockname()[1]
    with Browser(Path(tempfile.mkdtemp())) as browser:
        began = time.perf_counter()
        browser.open(f"http://127.0.0.1:{port}/#/graph/generated")
        browser.wait("document.querySelector('.stage')?.sigma?.getGraph().order > 0")
        count = browser.ask(
            "(() => { const g = document.querySelector('.stage').sigma.getGraph(); return [g.order, g.size]; })()"
        )
        drawer = browser.ask(RENDERER)
        print(f"{count[0]:,} nodes, {count[1]:,} lines on {drawer}")
        print(f"opened and drawn after {time.perf_counter() - began:.2f} s; page errors: {browser.errors}")
        for way in ("dragged", "zoomed"):
            frames, drawn = moved(browser, way)
            print(
                f"{way}: {1000 / frames.mean():.0f} frames a second; a frame {np.median(frames):.1f} ms (p95 "
                f"{np.percentile(frames, 95):.1f}); of that our script {np.median(drawn):.1f} ms (p95 "
                f"{np.percentile(drawn, 95):.1f})"
            )
    server.should_exit = True


if __name__ == "__main__":
    main()
