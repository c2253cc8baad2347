"""The loopback server from a terminal: prints its address, and serves until Ctrl-C ends it.

python -m ragways.testing.loopback --fault limited:share=0.2
"""

from __future__ import annotations

import argparse
import contextlib
import sys
import threading
from collections.abc import Sequence

from ragways.testing.replies import FAULT_KINDS, Fault, default_reply
from ragways.testing.server import LoopbackServer


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m ragways.testing.loopback",
        description="An OpenAI-compatible server on this machine that costs nothing and can fail on purpose.",
    )
    parser.add_argument("--port", type=int, default=0, help="0: the system chooses one")
    parser.add_argument("--key", help="demand this key")
    parser.add_argument("--size", type=int, default=0, help="fill the first text of a reply to so many characters")
    parser.add_argument("--dimension", type=int, default=8, help="of the embeddings")
    parser.add_argument(
        "--fault", type=Fault.parse, action="append", default=[], metavar="KIND[:requests=,until=,share=,seconds=]",
        help=f"fail on purpose: {', '.join(FAULT_KINDS)}",
    )  # fmt: skip
    asked = parser.parse_args(arguments)
    server = LoopbackServer(
        lambda body: default_reply(body, asked.size),
        faults=asked.fault, key=asked.key, dimension=asked.dimension, port=asked.port,
    )  # fmt: skip
    with server, contextlib.suppress(KeyboardInterrupt):
        sys.stdout.write(f"{server.base_url}\n")
        sys.stdout.flush()
        threading.Event().wait()


if __name__ == "__main__":
    main()
