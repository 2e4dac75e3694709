from typing import Any

from atlasqueue import DeadlineError, NotFoundError
from fastapi import FastAPI, HTTPException, Response

from jobs import Order, queue, send_receipt

app = FastAPI()


@app.post("/orders", status_code=202)
async def place_order(order: Order) -> dict[str, str]:
    job = await send_receipt.options(idempotency_key=f"receipt-{order.id}").submit(order)
    return {"job": job.id}


@app.get("/jobs/{id}")
async def show_job(id: str, response: Response) -> dict[str, Any]:
    """Waits a moment for the result. If the job takes longer, the caller asks again."""
    try:
        job = await queue.client.wait(id, timeout=2)
    except DeadlineError:
        response.status_code = 202
        return {"status": "unfinished"}
    except NotFoundError:
        raise HTTPException(404, "no such job") from None
    return {"status": job.status, "result": job.result}
