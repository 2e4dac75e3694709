import { eventually, forFile, recordEvents, redisUrl, submission, testDatabase } from "@atlasqueue/harness";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openSignal } from "../../test/working-signal.ts";
import { defaultTenant, type Deps } from "../deps.ts";
import { createFinishedWaits, type FinishedWaits } from "./wait-finished.ts";
import { memorySignal } from "../signal/memory/signal.ts";
import type { Signal } from "../signal/signal.ts";
import { cancel } from "./cancel.ts";
import { enqueue } from "../submit/enqueue.ts";

const never = new AbortController().signal;
const long_ms = 20_000;
const own = forFile(testDatabase);
let deps: Deps & { signal: Signal };
let watch: FinishedWaits;

afterEach(() => watch.close());

const add = async (): Promise<string> => {
  const [outcome] = await enqueue(deps, [submission()], { idempotency_ttl_seconds: 60 });
  return (outcome as { job: { id: string } }).job.id;
};

const drivers = {
  redis: () => openSignal({ url: redisUrl(), timeoutMs: 5_000 }),
  memory: memorySignal,
};

describe.each(Object.entries(drivers))("with %s", (_name, open) => {
  beforeEach(() => {
    deps = { database: own.database, observe: recordEvents().observe, signal: open() };
    watch = createFinishedWaits(deps);
  });

  test("a notice ends all waits for its job, and no others", async () => {
    const [id, other] = [await add(), await add()];
    let ended = 0;
    const waits = Array.from({ length: 3 }, () =>
      watch.until({ tenant: defaultTenant, id }, long_ms, never).then(() => (ended += 1)),
    );
    let other_ended = false;
    const gone = new AbortController();
    const others = watch
      .until({ tenant: defaultTenant, id: other }, long_ms, gone.signal)
      .then(() => (other_ended = true));
    await eventually(async () => {
      await deps.signal.notices.tell("finished", [id]);
      expect(ended).toBe(3);
    });
    expect(other_ended).toBe(false);
    gone.abort();
    await Promise.all([...waits, others]);
  });

  test("a job that finished without a notice is found by the look that all waits share", async () => {
    const ids = await Promise.all(Array.from({ length: 10 }, add));
    const waits = ids.map((id) => watch.until({ tenant: defaultTenant, id }, long_ms, never));
    for (const id of ids) await cancel(deps, "default", id);
    await Promise.all(waits);
  });

  test("a wait ends on time, and at once when the caller is gone, even before it starts", async () => {
    const id = await add();
    await watch.until({ tenant: defaultTenant, id }, 5, never);
    const gone = new AbortController();
    const waiting = watch.until({ tenant: defaultTenant, id }, long_ms, gone.signal);
    gone.abort();
    await waiting;
    await watch.until({ tenant: defaultTenant, id }, long_ms, gone.signal);
  });

  test("a tenant that uses up its share leaves room for another's waits, and gets its own back afterwards", async () => {
    const id = await add();
    const gone = new AbortController();
    const waits: Promise<void>[] = [];
    expect(() => {
      for (let at = 0; at < 10_000; at += 1) waits.push(watch.until({ tenant: "greedy", id }, long_ms, gone.signal));
    }).toThrow("share of the requests that wait for a job to finish");
    expect(waits.length).toBe(7_500);
    waits.push(watch.until({ tenant: "modest", id }, long_ms, gone.signal));
    gone.abort();
    await Promise.all(waits);
    await watch.until({ tenant: "greedy", id }, 1, never);
  });

  test("close ends every wait, and later calls do not wait", async () => {
    const id = await add();
    const waits = Array.from({ length: 50 }, () => watch.until({ tenant: defaultTenant, id }, long_ms, never));
    watch.close();
    await Promise.all(waits);
    await watch.until({ tenant: defaultTenant, id }, long_ms, never);
  });
});
