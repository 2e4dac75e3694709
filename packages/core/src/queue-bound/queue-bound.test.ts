import { eventually, submission } from "@atlasqueue/harness";
import { expect, test } from "vitest";
import { engineHarness } from "../../test/engine-harness.ts";
import { foldAll } from "../counts/fold.ts";
import { enqueue } from "../submit/enqueue.ts";
import { forget } from "../maintenance/forget.ts";
import { pauseQueue, resumeQueue } from "../queues/pause.ts";
import { memorySignal } from "../signal/memory/signal.ts";
import { createQueueBound, TooManyQueuesError } from "./queue-bound.ts";

const { deps, limit } = engineHarness();

const bound = (queues_per_tenant_max = 3) => createQueueBound(deps, { queues_per_tenant_max });
const store = (...queues: string[]) =>
  enqueue(
    deps,
    queues.map((queue) => submission({ queue })),
    { idempotency_ttl_seconds: 60 },
  );
const refused = (work: Promise<void>) => expect(work).rejects.toThrow(TooManyQueuesError);

test("each tenant may have that many queues, whether they hold jobs, are paused or limited", async () => {
  await store("a", "a", "b");
  await pauseQueue(deps, { tenant: "default", queue: "c" });
  await refused(bound().admit("default", ["d"]));
  await foldAll(deps);
  await refused(bound().admit("default", ["d"]));
  await bound().admit("default", ["a", "b", "c"]);
  await bound(4).admit("default", ["d"]);
  await bound().admit("acme", ["d", "e", "f"]);
});

test("of several at once all find room or none does", async () => {
  const queues = bound();
  await store("a");
  await refused(queues.admit("default", ["b", "c", "d"]));
  await queues.admit("default", ["b", "c", "b"]);
  await refused(queues.admit("default", ["a", "d"]));
});

test("of many simultaneous queues no more get in than there is room for", async () => {
  const queues = bound();
  const names = ["a", "b", "c", "d", "e", "f"];
  const answers = await Promise.allSettled([...names, ...names].map((name) => queues.admit("default", [name])));
  const let_in = answers.flatMap(({ status }, at) => (status === "fulfilled" ? [names[at % names.length]] : []));
  expect(new Set(let_in).size).toBe(3);
  expect(let_in).toHaveLength(6);
});

test("an unused queue makes room", async () => {
  const queues = bound(1);
  const ref = { tenant: "default", queue: "a" };
  await pauseQueue(deps, ref);
  await limit({ concurrency: 1 }, "a");
  await refused(queues.admit("default", ["b"]));
  await resumeQueue({ ...deps, signal: memorySignal() }, ref);
  await forget(deps, "others", 10);
  await refused(bound(1).admit("default", ["b"]));
  await limit({}, "a");
  await forget(deps, "others", 10);
  await eventually(() => queues.admit("default", ["b"]));
});

test("names a process knows are not looked up again", async () => {
  const queues = bound();
  await store("a");
  await queues.admit("default", ["a"]);
  await deps.database.sql`ALTER TABLE atlasqueue.queue_counts RENAME TO elsewhere`;
  try {
    await queues.admit("default", ["a"]);
    await expect(queues.admit("default", ["b"])).rejects.toThrow("queue_counts");
  } finally {
    await deps.database.sql`ALTER TABLE atlasqueue.elsewhere RENAME TO queue_counts`;
  }
  await queues.admit("default", ["b"]);
});

test("of a stream's queues those that fit are admitted, and the others are named", async () => {
  const queues = bound();
  await store("a");
  const others = await queues.admitEach("default", ["b", "a", "c", "d", "e"]);
  expect([...others.keys()]).toEqual(["d", "e"]);
  expect(others.get("d")).toBeInstanceOf(TooManyQueuesError);
  await queues.admit("default", ["b", "c"]);
});
