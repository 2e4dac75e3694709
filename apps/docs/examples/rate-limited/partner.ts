import type { Client } from "@atlasqueue/client";
import { defineHandler, DoNotRetryError, RetryAfterError, type Handler } from "@atlasqueue/worker";
import { z } from "zod";

/** The partner allows five requests a second and three at once. All workers together keep to that. */
export async function limitPartner(client: Client): Promise<void> {
  await client.setLimits("partner", { concurrency: 3, rate: { limit: 5, period_seconds: 1 } });
}

/** A partner that is busy anyway says when to come back. */
export function pushToPartner(url: string): Handler {
  return defineHandler("partner.push", z.object({ order: z.int() }), async ({ order }, { signal }) => {
    const response = await fetch(`${url}/orders/${order}`, { method: "PUT", signal });
    if (response.status === 429) {
      const seconds = Number(response.headers.get("retry-after") ?? 60);
      throw new RetryAfterError("the partner is busy", seconds * 1_000);
    }
    if (response.status === 404) throw new DoNotRetryError(`the partner has no order ${order}`);
    if (!response.ok) throw new Error(`the partner returned ${response.status}`);
  });
}
