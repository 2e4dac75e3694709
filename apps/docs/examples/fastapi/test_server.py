"""The same against a real server, with a worker."""

import threading
from uuid import uuid4

from fastapi.testclient import TestClient

from jobs import queue
from main import app


def test_the_job_runs_on_a_worker(atlasqueue_server: str) -> None:
    queue.use_url(atlasqueue_server)
    web = TestClient(app)
    job = web.post("/orders", json={"id": 17, "email": "ada@example.org"}).json()["job"]
    assert web.get(f"/jobs/{job}").status_code == 202
    assert web.get(f"/jobs/{uuid4()}").status_code == 404
    worker = queue.worker()
    working = threading.Thread(target=worker.run)
    working.start()
    try:
        queue.sync_client.wait(job, timeout=30)
        assert web.get(f"/jobs/{job}").json()["result"] == "receipt 17 sent to ada@example.org"
    finally:
        worker.stop()
        working.join(30)
