"""The Python package's worker: worker_sdk.py URL QUEUE WORKER_ID. Prints what worker.sh prints."""

import asyncio
import logging
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[3] / "python" / "src"))

from atlasqueue import App, context

URL, QUEUE, WORKER = sys.argv[1:]
app = App(URL)
logging.disable()


def say(what: str) -> None:
    print(what, context.job.id, int(time.time() * 1000), flush=True)


@app.job("work", queue=QUEUE)
async def work() -> None:
    say("start")
    await asyncio.sleep(0.1)
    say("end")


app.worker(concurrency=2, lease_seconds=5, wait_seconds=1, worker_id=WORKER).run()
