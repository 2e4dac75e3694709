import { forFile } from "@atlasqueue/harness";
import { expect, test } from "vitest";
import { startSystem } from "./system.ts";

const system = forFile(startSystem);

/** A job whose handler has not begun goes back as soon as its worker is told to end. */
const handlerStart = (id: string) => new RegExp(`"event":"handler_start".*${id}`);

test("SIGTERM with three jobs of five seconds running: they finish, and it ends", { tags: ["slow"] }, async () => {
  const api = await system.startApi();
  const worker = await system.startWorker();
  const ids = await Promise.all([1, 2, 3].map(() => api.create({ type: "demo.sleep", payload: { ms: 5_000 } })));
  for (const id of ids) await worker.waitForLine(handlerStart(id));
  worker.kill("SIGTERM");
  expect(await worker.waitForExit(20_000)).toMatchObject({ code: 0 });
  for (const id of ids) expect(await api.read(id)).toMatchObject({ status: "succeeded", attempts: 1 });
});

test("SIGTERM with jobs of a minute and a deadline of two seconds: they go back, no attempt spent", async () => {
  const api = await system.startApi();
  const worker = await system.startWorker({ WORKER_SHUTDOWN_SECONDS: "2" });
  const ids = await Promise.all([1, 2, 3].map(() => api.create({ type: "demo.sleep", payload: { ms: 60_000 } })));
  for (const id of ids) await worker.waitForLine(handlerStart(id));
  for (const id of ids) expect(await api.read(id)).toMatchObject({ status: "running", attempts: 1 });
  worker.kill("SIGTERM");
  expect(await worker.waitForExit(20_000)).toMatchObject({ code: 0 });
  for (const id of ids) expect(await api.read(id)).toMatchObject({ status: "queued", attempts: 0 });
  expect((await system.redis.lrange("atlasqueue:jobs", 0, -1)).sort()).toEqual(ids.toSorted());
});

test("SIGTERM to an API with a request in flight: it is answered, and the API exits with 0", async () => {
  const api = await system.startApi();
  const answers = Promise.all(Array.from({ length: 20 }, () => api.submit({ type: "noop" })));
  const first = await api.submit({ type: "noop" });
  api.process.kill("SIGTERM");
  expect(first.status).toBe(201);
  expect((await answers).map((answer) => answer.status)).toEqual(Array.from({ length: 20 }, () => 201));
  expect(await api.process.waitForExit(20_000)).toMatchObject({ code: 0 });
});
