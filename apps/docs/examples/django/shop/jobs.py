from collections.abc import Iterator
from contextlib import contextmanager

from atlasqueue import App, Job, Submission
from django.db import connection, connections

from .models import Order

queue = App()  # reads ATLASQUEUE_URL and ATLASQUEUE_TOKEN


@queue.job("receipt.send", queue="mail", timeout=30, max_attempts=5)
def send_receipt(order: int) -> str:
    found = Order.objects.get(id=order)
    Order.objects.filter(id=order).update(receipt_sent=True)
    return f"receipt {order} sent to {found.email}"


@contextmanager
def close_connections(job: Job) -> Iterator[None]:
    """Each attempt has a thread of its own, and Django a connection for each thread."""
    try:
        yield
    finally:
        connections.close_all()


queue.around.append(close_connections)


def submit_in_transaction(job: Submission) -> str:
    """Stores a job in the open transaction: the job exists if and only if that commits."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT atlasqueue.submit(%s, %s, %s)", job.to_sql())
        return str(cursor.fetchone()[0])
