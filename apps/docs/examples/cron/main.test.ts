import { createClient } from "@atlasqueue/client";
import { createQueue } from "@atlasqueue/core";
import { expect, onTestFinished, test } from "vitest";
import { startSystem } from "../system.ts";
import { runBackups } from "./main.ts";

test("two processes make one schedule, and its job runs", { tags: ["slow"] }, async () => {
  const { databaseUrl, apiUrl } = await startSystem();
  const queue = createQueue({ databaseUrl });
  const start = () => runBackups({ databaseUrl, queue }, async () => ({ bytes: 17 }));
  const workers = await Promise.all([start(), start()]);
  onTestFinished(async () => {
    await Promise.all(workers.map((worker) => worker.stop({ deadlineMs: 0 })));
    await queue.close();
  });
  const schedules = await queue.schedules.list();
  expect(schedules.map(({ name, next_runs }) => [name, next_runs.length])).toEqual([["backup", 5]]);
  const client = createClient({ url: apiUrl });
  const { id } = await client.schedules.run("backup");
  expect(await client.handle(id).result()).toEqual({ bytes: 17 });
});
