import { createClient } from "@atlasqueue/client";
import { createQueue } from "@atlasqueue/core";
import { drizzle } from "drizzle-orm/postgres-js";
import postgres from "postgres";
import { expect, onTestFinished, test } from "vitest";
import { startSystem } from "../system.ts";
import { signUp } from "./sign-up.ts";

test("a user who is already there gets no second mail", async () => {
  const { databaseUrl, apiUrl } = await startSystem();
  const sql = postgres(databaseUrl);
  await sql`CREATE TABLE users (email text PRIMARY KEY)`;
  const queue = createQueue({ databaseUrl });
  onTestFinished(async () => void (await Promise.all([queue.close(), sql.end()])));
  const db = drizzle(sql);
  const job = await signUp(db, queue, "ada@example.org");
  const client = createClient({ url: apiUrl });
  expect(await client.get(job)).toMatchObject({ status: "queued", payload: { email: "ada@example.org" } });
  await expect(signUp(db, queue, "ada@example.org")).rejects.toThrow();
  expect((await client.page({ type: "welcome.send" })).items).toHaveLength(1);
});
