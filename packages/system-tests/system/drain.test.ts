import { forFile } from "@atlasqueue/harness";
import { expect, test } from "vitest";
import { startSystem } from "./system.ts";

const system = forFile(startSystem);

/** A job whose handler has not begun goes back as soon as its worker is told to end. */
const handlerStart = (id: string) => new RegExp(`"event":"handler_start".*${id}`);

test("SIGTERM with jobs of a minute and a deadline of two seconds: they go back, no attempt spent", async () => {
  const [api, worker] = await Promise.all([system.startApi(), system.startWorker({ WORKER_SHUTDOWN_SECONDS: "2" })]);
  const ids = await Promise.all([1, 2, 3].map(() => api.create({ type: "demo.sleep", payload: { ms: 60_000 } })));
  for (const id of ids) await worker.waitForLine(handlerStart(id));
  for (const id of ids) expect(await api.read(id)).toMatchObject({ status: "running", attempts: 1 });
  worker.kill("SIGTERM");
  expect(await worker.waitForExit(20_000)).toMatchObject({ code: 0 });
  for (const id of ids) expect(await api.read(id)).toMatchObject({ status: "queued", attempts: 0 });
  expect((await system.redis.lrange("atlasqueue:jobs", 0, -1)).sort()).toEqual(ids.toSorted());
});
