import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { createClient } from "@atlasqueue/client";
import { createQueue } from "@atlasqueue/core";
import { createWorker, defineHandler } from "@atlasqueue/worker";
import postgres from "postgres";
import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { startSystem } from "../system.ts";
import { createApp } from "./app.ts";

test("an order and its job are stored together, and the caller waits for the result", { tags: ["slow"] }, async () => {
  const { databaseUrl, apiUrl } = await startSystem();
  const sql = postgres(databaseUrl);
  await sql`CREATE TABLE orders (id uuid PRIMARY KEY, email text NOT NULL)`;
  const queue = createQueue({ databaseUrl });
  const receipt = defineHandler("receipt.send", z.object({ email: z.email() }), ({ email }) => ({ sent: email }));
  const worker = createWorker({ databaseUrl, handlers: [receipt] });
  const server = createApp({ sql, queue, client: createClient({ url: apiUrl }) }).listen(0, "127.0.0.1");
  onTestFinished(async () => {
    server.close();
    await worker.stop({ deadlineMs: 0 });
    await Promise.all([queue.close(), sql.end()]);
  });
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  const headers = { "content-type": "application/json" };
  const body = JSON.stringify({ email: "ada@example.org" });
  const placed = await fetch(`${url}/orders`, { method: "POST", headers, body });
  expect(placed.status).toBe(202);
  const { job } = (await placed.json()) as { job: string };
  await worker.empty();
  const answer = await fetch(`${url}/jobs/${job}`);
  expect([answer.status, await answer.json()]).toEqual([
    200,
    { status: "succeeded", result: { sent: "ada@example.org" } },
  ]);
  expect(await sql`SELECT email FROM orders`).toHaveLength(1);
});
