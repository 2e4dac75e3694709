"""atlasqueue-worker: runs the worker of an app.

atlasqueue-worker module:app --concurrency 10
"""

from __future__ import annotations

import argparse
import importlib
import logging
import os
import sys

from ._app import App
from ._log import JsonFormatter


def main(arguments: list[str] | None = None) -> int:
    """Returns 0 after a stop, and 2 for what cannot be run, with a line that names it."""
    parser = argparse.ArgumentParser(prog="atlasqueue-worker", description="Runs the jobs of an app until SIGTERM.")
    parser.add_argument("app", help="where the app is, such as shop.jobs:app")
    parser.add_argument("--url", help="of the API; by default the app's, or ATLASQUEUE_URL")
    parser.add_argument(
        "--queue", action="append", help="a queue to serve, may be repeated; by default all of the app's jobs"
    )
    parser.add_argument("--concurrency", type=int, default=10, help="jobs of a queue at once, 1 to 1,000, default 10")
    parser.add_argument(
        "--lease-seconds", type=int, default=30, help="how long a crashed worker's jobs wait, default 30"
    )
    parser.add_argument(
        "--stop-seconds", type=float, default=25, help="how long jobs may run on after SIGTERM, default 25"
    )
    parser.add_argument("--worker-id", help="shows people which worker holds a job")
    parser.add_argument("--log-format", choices=("text", "json"), default="text")
    parser.add_argument("--log-level", choices=("debug", "info", "warning", "error"), default="info")
    given = parser.parse_args(arguments)

    handler = logging.StreamHandler(sys.stderr)
    text = logging.Formatter("%(asctime)s %(levelname)s %(name)s %(message)s")
    handler.setFormatter(JsonFormatter() if given.log_format == "json" else text)
    logging.basicConfig(level=given.log_level.upper(), handlers=[handler])
    # One line for each request, at info.
    logging.getLogger("httpx").setLevel(logging.WARNING)
    try:
        app = load_app(given.app)
        if given.url:
            app.use_url(given.url)
        worker = app.worker(
            queues=given.queue,
            concurrency=given.concurrency,
            lease_seconds=given.lease_seconds,
            stop_seconds=given.stop_seconds,
            worker_id=given.worker_id,
        )
    except (ImportError, ValueError) as error:
        print(f"atlasqueue-worker: {error}", file=sys.stderr)
        return 2
    worker.run()
    return 0


def load_app(place: str) -> App:
    """The app that "module:name" names. Raises ImportError or ValueError."""
    module, _, name = place.partition(":")
    if not module or not name:
        raise ValueError(f"the app must be given as module:name, such as shop.jobs:app; got {place!r}")
    sys.path.insert(0, os.getcwd())
    found: object = importlib.import_module(module)
    for part in name.split("."):
        found = getattr(found, part, None)
    if not isinstance(found, App):
        raise ValueError(f"{place} is not an atlasqueue.App")
    return found


if __name__ == "__main__":
    sys.exit(main())
