import { randomUUID } from "node:crypto";
import type { Client } from "@atlasqueue/client";
import type { Queue } from "@atlasqueue/core";
import express, { type Express } from "express";
import type { Sql } from "postgres";
import { z } from "zod";

const order = z.object({ email: z.email() });

export function createApp({ sql, queue, client }: { sql: Sql; queue: Queue; client: Client }): Express {
  const app = express();
  app.use(express.json());

  app.post("/orders", async (request, response) => {
    const { email } = order.parse(request.body);
    const id = randomUUID();
    const job = await sql.begin(async (tx) => {
      await tx`INSERT INTO orders ${tx({ id, email })}`;
      return queue.submitIn(tx, { type: "receipt.send", payload: { order: id, email } });
    });
    await queue.announce(job);
    response.status(202).json({ order: id, job: job.id });
  });

  // Waits a moment for the result. If the job takes longer, the caller gets its id.
  app.get("/jobs/:id", async (request, response) => {
    const job = await client.wait(request.params.id, { timeoutMs: 2_000 }).catch(() => client.get(request.params.id));
    response.status(job.status === "succeeded" ? 200 : 202).json({ status: job.status, result: job.result });
  });

  return app;
}
