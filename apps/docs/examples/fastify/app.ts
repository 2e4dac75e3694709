import { randomUUID } from "node:crypto";
import type { Queue } from "@atlasqueue/core";
import Fastify, { type FastifyInstance } from "fastify";
import type { Sql } from "postgres";
import { z } from "zod";

const order = z.object({ email: z.email() });

export function createApp({ sql, queue }: { sql: Sql; queue: Queue }): FastifyInstance {
  const app = Fastify();

  app.post("/orders", async (request, reply) => {
    const { email } = order.parse(request.body);
    const id = randomUUID();
    const job = await sql.begin(async (tx) => {
      await tx`INSERT INTO orders ${tx({ id, email })}`;
      return queue.submitIn(tx, { type: "receipt.send", payload: { order: id, email } });
    });
    await queue.announce(job);
    return reply.code(202).send({ order: id, job: job.id });
  });

  // `app.close()` waits for the requests in flight before this.
  app.addHook("onClose", async () => {
    await queue.close();
    await sql.end();
  });

  return app;
}
