import { randomUUID } from "node:crypto";
import { defineJob, Handler, InjectQueue } from "@atlasqueue/nestjs";
import type { JobContext, Queue } from "@atlasqueue/nestjs";
import { Injectable } from "@nestjs/common";
import { z } from "zod";
import { Database } from "./database.js";

export const sendReceipt = defineJob("receipt.send", z.object({ order: z.string(), email: z.email() }));

@Injectable()
export class Orders {
  constructor(
    private readonly database: Database,
    @InjectQueue() private readonly queue: Queue,
  ) {}

  /** The job exists if and only if the order does. */
  async place(email: string) {
    const order = randomUUID();
    const job = await this.database.transaction(async (client) => {
      await client.query("INSERT INTO orders (id, email) VALUES ($1, $2)", [order, email]);
      return this.queue.submitIn(client, sendReceipt.submission({ order, email }));
    });
    await this.queue.announce(job);
    return { order, job: job.id };
  }

  @Handler(sendReceipt, { timeoutSeconds: 30 })
  async send({ email }: { email: string }, { job }: JobContext) {
    return { sent_to: email, attempt: job.attempt };
  }
}
