import { pauseQueue } from "@atlasqueue/core/internal";
import { resumeQueue } from "@atlasqueue/core/internal/http";
import { beforeEach, describe, expect, test } from "vitest";
import { any, gate, main, signals, workerHarness } from "../test/harness.ts";
import { defineHandler } from "./handler.ts";

const { add, becomes, deps, read, sql, useSignal, work } = workerHarness();

describe.each(Object.entries(signals))("with %s", (_name, driver) => {
  beforeEach(async () => {
    useSignal(driver);
    await sql()`TRUNCATE atlasqueue.queues`;
  });

  test("while a queue is paused what runs finishes and nothing starts", { tags: ["slow"] }, async () => {
    const { open, opened } = gate();
    const started: unknown[] = [];
    work(
      [
        defineHandler("noop", any, async ({ n }) => {
          started.push(n);
          if (n === 0) await opened;
        }),
      ],
      { queues: ["default", "mail"], pollTimeoutSeconds: 1 },
    );
    const [first] = await add({ payload: { n: 0 } });
    await becomes(first, { status: "running" });
    await pauseQueue(deps(), main);
    const waiting = await add({ payload: { n: 1 } }, { payload: { n: 2 } }, { payload: { n: 3 }, delay_seconds: 0.1 });
    open();
    await becomes(first, { status: "succeeded" });
    // The worker is at work meanwhile: it promotes a due job, and runs a later one from another queue.
    await becomes(waiting[2], { status: "queued" });
    const [mail] = await add({ queue: "mail", payload: { n: "mail" } });
    await becomes(mail, { status: "succeeded" });
    expect(started).toEqual([0, "mail"]);
    for (const id of waiting) expect(await read(id)).toMatchObject({ status: "queued", attempts: 0 });

    await resumeQueue(deps(), main);
    for (const id of waiting) await becomes(id, { status: "succeeded", attempts: 1 });
    expect(started).toHaveLength(5);
  });
});
