import { eventually } from "@atlasqueue/harness";
import { expect, onTestFinished, test } from "vitest";
import { recorder } from "../recorder.ts";
import { testApi } from "../test-api.ts";
import { createClient } from "@atlasqueue/client";

test("an outcome whose job somebody has locked keeps no other one waiting, and arrives after that", async () => {
  const api = await testApi();
  const client = createClient({ url: api.url });
  const told = recorder();
  const locked = Promise.withResolvers<void>();
  const end = Promise.withResolvers<void>();
  const handler = async (_payload: unknown, { job }: { job: { type: string } }) => {
    if (job.type === "locked") await locked.promise;
  };
  const worker = client.work("locks", handler, { observe: told.observe, leaseSeconds: 60 });
  onTestFinished(async () => {
    end.resolve();
    await worker.stop({ deadlineMs: 0 });
    await api.close();
  });
  const { id } = await client.submit({ type: "locked", queue: "locks" });
  await eventually(() => expect(told.named("handler_start")).toHaveLength(1));
  const holding = api.database.sql.begin(async (sql) => {
    await sql`SELECT FROM atlasqueue.jobs WHERE id = ${id} FOR UPDATE`;
    locked.resolve();
    await end.promise;
  });
  await eventually(() => expect(told.named("api_unavailable")).toMatchObject([{ during: "settle" }]), {
    timeout_ms: 30_000,
  });
  const other = await client.submit({ type: "free", queue: "locks" });
  await eventually(async () => expect(await client.get(other.id)).toMatchObject({ status: "succeeded" }), {
    timeout_ms: 20_000,
  });
  expect(await client.get(id)).toMatchObject({ status: "running" });
  end.resolve();
  await holding;
  await eventually(async () => expect(await client.get(id)).toMatchObject({ status: "succeeded", attempts: 1 }), {
    timeout_ms: 30_000,
  });
  expect(told.named("lease_lost")).toEqual([]);
});
