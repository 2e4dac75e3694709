import { createClient } from "@atlasqueue/client";
import { createQueue } from "@atlasqueue/core";
import postgres from "postgres";
import { expect, test } from "vitest";
import { startSystem } from "../system.ts";
import { createApp } from "./app.ts";

test("an order and its job are stored together, and closing the app closes the queue", async () => {
  const { databaseUrl, apiUrl } = await startSystem();
  const sql = postgres(databaseUrl);
  await sql`CREATE TABLE orders (id uuid PRIMARY KEY, email text NOT NULL)`;
  const queue = createQueue({ databaseUrl });
  const app = createApp({ sql, queue });
  const response = await app.inject({ method: "POST", url: "/orders", payload: { email: "ada@example.org" } });
  expect(response.statusCode).toBe(202);
  const { order, job } = response.json<{ order: string; job: string }>();
  const stored = await createClient({ url: apiUrl }).get(job);
  expect(stored).toMatchObject({ status: "queued", payload: { order, email: "ada@example.org" } });
  await app.close();
  await expect(queue.submit({ type: "receipt.send" })).rejects.toThrow();
});
