import { jobStatuses, type Queue } from "@atlasqueue/contract";
import { expect, test } from "vitest";
import { inOrder, isUnserved } from "./order.ts";

const none = Object.fromEntries(jobStatuses.map((status) => [status, 0])) as Queue["counts"];
const limits = { concurrency: null, group_concurrency: null, rate: null, group_rate: null, fair_by: null };
const queue = (name: string, counts: Partial<Queue["counts"]>, paused = false): Queue => ({
  queue: name,
  paused,
  limits,
  counts: { ...none, ...counts },
  oldest_queued_at: counts.queued ? "2030-01-31T12:00:00.000Z" : null,
});

test("what is wrong is first: no worker, paused, dead letters, retries", () => {
  const all = [
    queue("a-fine", { succeeded: 9 }),
    queue("b-retrying", { failed: 1 }),
    queue("c-dead", { dead: 1 }),
    queue("d-paused", { queued: 1 }, true),
    queue("e-served", { queued: 1 }),
    queue("f-alone", { queued: 1 }),
  ];
  const workers = [{ queues: ["e-served", "a-fine"] }];
  const names = inOrder(all, "wrong", workers).map((one) => one.queue);
  expect(names).toEqual(["f-alone", "d-paused", "c-dead", "b-retrying", "a-fine", "e-served"]);
  expect(inOrder(all, "oldest", workers)[0]?.queue).toBe("d-paused");
});

test("a queue whose jobs run, or whose workers are not known, is not marked as without a worker", () => {
  expect(isUnserved(queue("a", { queued: 1 }), [])).toBe(true);
  expect(isUnserved(queue("a", { queued: 1, running: 1 }), [])).toBe(false);
  expect(isUnserved(queue("a", { queued: 1 }), [{ queues: ["*"] }])).toBe(false);
  expect(isUnserved(queue("a", { queued: 1 }), undefined)).toBe(false);
  expect(isUnserved(queue("a", {}), [])).toBe(false);
});
