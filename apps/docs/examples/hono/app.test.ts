import { createClient } from "@atlasqueue/client";
import { createQueue } from "@atlasqueue/core";
import postgres from "postgres";
import { expect, onTestFinished, test } from "vitest";
import { startSystem } from "../system.ts";
import { createApp } from "./app.ts";

test("an order and its job are stored together, or neither is", async () => {
  const { databaseUrl, apiUrl } = await startSystem();
  const sql = postgres(databaseUrl);
  await sql`CREATE TABLE orders (id uuid PRIMARY KEY, email text NOT NULL UNIQUE)`;
  const queue = createQueue({ databaseUrl });
  onTestFinished(async () => void (await Promise.all([queue.close(), sql.end()])));
  const app = createApp({ sql, queue });
  // Hono's own prints the error.
  app.onError((_error, c) => c.text("failed", 500));
  const place = () => app.request("/orders", { method: "POST", body: JSON.stringify({ email: "ada@example.org" }) });

  const placed = await place();
  expect(placed.status).toBe(202);
  const { order, job } = (await placed.json()) as { order: string; job: string };
  const client = createClient({ url: apiUrl });
  expect(await client.get(job)).toMatchObject({ status: "queued", payload: { order } });

  expect((await place()).status).toBe(500);
  expect((await client.page({ type: "receipt.send" })).items).toHaveLength(1);
});
