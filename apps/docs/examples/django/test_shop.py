"""The recipe on PostgreSQL, with the API over the same database, and its worker as a process."""

import os
import subprocess
import sys
import time
from pathlib import Path

import django
import pytest
from django.db import DataError, IntegrityError, connection, transaction
from django.test import Client
from django.test.utils import setup_test_environment

os.environ["DJANGO_SETTINGS_MODULE"] = "settings"
setup_test_environment()
django.setup()

from shop.jobs import queue, send_receipt, submit_in_transaction  # noqa: E402
from shop.models import Order  # noqa: E402


def test_an_order_and_its_job_are_stored_together(atlasqueue_server: str) -> None:
    queue.use_url(atlasqueue_server)
    with connection.schema_editor() as schema:
        schema.create_model(Order)
    jobs = len(list(queue.sync_client.list(type="receipt.send")))
    with pytest.raises(ZeroDivisionError), transaction.atomic():
        submit_in_transaction(send_receipt.submission(0))
        raise ZeroDivisionError
    with pytest.raises(DataError, match="priority"):
        submit_in_transaction(send_receipt.options(priority=5_000).submission(0))
    keyed = send_receipt.options(idempotency_key="once", delay=3_600).submission(0)
    first = submit_in_transaction(keyed)
    while queue.sync_client.get(first).status == "blocked":  # until it has its key
        time.sleep(0.05)
    assert submit_in_transaction(keyed) == first
    with pytest.raises(IntegrityError, match="idempotency_key"):
        submit_in_transaction(send_receipt.options(idempotency_key="once").submission(1))
    placed = Client().post("/orders", {"email": "ada@example.org"}, content_type="application/json")
    assert placed.status_code == 202
    order, job = placed.json()["order"], placed.json()["job"]
    assert len(list(queue.sync_client.list(type="receipt.send"))) == jobs + 2

    command = [sys.executable, "-m", "django", "work"]
    here = str(Path(__file__).parent)
    env = {**os.environ, "ATLASQUEUE_URL": atlasqueue_server}
    env["PYTHONPATH"] = os.pathsep.join([here, env.get("PYTHONPATH", "")])
    worker = subprocess.Popen(command, cwd=here, env=env)
    try:
        assert queue.sync_client.wait(job, timeout=30).status == "succeeded"
    finally:
        worker.terminate()
        assert worker.wait(30) == 0
    assert Client().get(f"/jobs/{job}").json()["result"] == f"receipt {order} sent to ada@example.org"
    assert Client().get("/jobs/00000000-0000-7000-8000-000000000000").status_code == 404
    assert Order.objects.get(id=order).receipt_sent
