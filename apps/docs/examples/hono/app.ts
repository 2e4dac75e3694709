import { randomUUID } from "node:crypto";
import type { Queue } from "@atlasqueue/core";
import { Hono } from "hono";
import type { Sql } from "postgres";
import { z } from "zod";

const order = z.object({ email: z.email() });

export function createApp({ sql, queue }: { sql: Sql; queue: Queue }): Hono {
  const app = new Hono();

  app.post("/orders", async (c) => {
    const { email } = order.parse(await c.req.json());
    const id = randomUUID();
    const job = await sql.begin(async (tx) => {
      await tx`INSERT INTO orders ${tx({ id, email })}`;
      return queue.submitIn(tx, { type: "receipt.send", payload: { order: id, email } });
    });
    await queue.announce(job);
    return c.json({ order: id, job: job.id }, 202);
  });

  return app;
}
