import json

from atlasqueue import NotFoundError
from django.db import transaction
from django.http import Http404, HttpRequest, JsonResponse
from django.views.decorators.http import require_POST

from .jobs import queue, send_receipt, submit_in_transaction
from .models import Order


@require_POST
@transaction.atomic
def place_order(request: HttpRequest) -> JsonResponse:
    order = Order.objects.create(email=json.loads(request.body)["email"])
    job = submit_in_transaction(send_receipt.submission(order.id))
    return JsonResponse({"order": order.id, "job": job}, status=202)


def show_job(request: HttpRequest, id: str) -> JsonResponse:
    try:
        job = queue.sync_client.get(id)
    except NotFoundError:
        raise Http404("no such job") from None
    return JsonResponse({"status": job.status, "result": job.result})
