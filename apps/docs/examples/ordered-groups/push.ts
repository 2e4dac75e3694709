import type { Queue } from "@atlasqueue/core";

/** One after another for a customer, while other customers go on. */
export async function pushEvent(queue: Queue, event: { customer: number; number: number; text: string }) {
  return queue.submit({
    type: "erp.push",
    payload: event,
    group: `customer-${event.customer}`,
    idempotency_key: `erp-${event.customer}-${event.number}`,
  });
}
