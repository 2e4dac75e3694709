"""Three kinds of handlers: a coroutine, a plain function on a thread, and one with steps."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from atlasqueue import App, Backoff, context, sync_context

app = App()


@dataclass
class Order:
    id: int
    email: str


@app.job("email.send", queue="mail", timeout=30, backoff=Backoff.exponential(1, max_seconds=60))
async def send_email(to: str, subject: str = "Welcome") -> str:
    await asyncio.sleep(0.1)
    return f"{subject} sent to {to}"


@app.job("report.make", queue="reports")
def make_report(rows: int) -> int:
    for row in range(rows):
        if sync_context.cancelled:
            break
        sync_context.progress({"row": row})
    return rows


@app.job("order.place", queue="orders")
async def place_order(order: Order) -> str:
    async def charge() -> str:
        return f"receipt for {order.id}"

    receipt = await context.step("charge", charge)
    context.spawn(send_email.submission(to=order.email, subject=receipt))
    return receipt


async def main() -> None:
    handle = await place_order.submit(Order(17, "ada@example.org"))
    receipt: str = await handle.result(timeout=30)
    print(receipt)


if __name__ == "__main__":
    asyncio.run(main())
