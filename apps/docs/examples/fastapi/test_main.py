from atlasqueue.testing import MemoryQueue
from fastapi.testclient import TestClient

from jobs import queue
from main import app

web = TestClient(app)


def test_an_order_sends_one_receipt(atlasqueue_memory: MemoryQueue) -> None:
    atlasqueue_memory.attach(queue)
    order = {"id": 17, "email": "ada@example.org"}
    placed = web.post("/orders", json=order)
    assert placed.status_code == 202
    assert web.post("/orders", json=order).json() == placed.json()
    assert [job.payload for job in atlasqueue_memory.submitted("receipt.send")] == [order]
    atlasqueue_memory.drain()
    shown = web.get(f"/jobs/{placed.json()['job']}")
    assert shown.json() == {"status": "succeeded", "result": "receipt 17 sent to ada@example.org"}
