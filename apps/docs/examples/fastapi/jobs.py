from atlasqueue import App
from pydantic import BaseModel

queue = App()  # reads ATLASQUEUE_URL and ATLASQUEUE_TOKEN


class Order(BaseModel):
    id: int
    email: str


@queue.job("receipt.send", queue="mail", timeout=30, max_attempts=5)
async def send_receipt(order: Order) -> str:
    return f"receipt {order.id} sent to {order.email}"
