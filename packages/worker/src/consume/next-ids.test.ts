import type { Signal } from "@atlasqueue/core";
import { expect, test } from "vitest";
import type { WorkerDeps } from "../deps.ts";
import { idSource } from "./next-ids.ts";
import { createServed } from "./served.ts";
import { createTenantLine } from "./tenant-line.ts";

test("a worker looks for ids first in the queue after the one that gave ids last", async () => {
  const asked: string[] = [];
  const take: Signal["take"] = async (queues) => {
    asked.push(queues.map(({ queue }) => queue).join(" "));
    return { ids: ["an id"], from: queues.slice(0, 2) };
  };
  const deps = { signal: { take } } as WorkerDeps;
  const served = createServed(deps, ["default"], ["a", "b", "c", "d", "e"]);
  const line = createTenantLine(deps, served, () => {});
  const nextIds = idSource({ deps, served, line, poll_timeout_seconds: 1 }, new AbortController().signal);
  const taken = [await nextIds(10), await nextIds(10), await nextIds(10)];
  expect(asked).toEqual(["a b c d e", "c d e a b", "e a b c d"]);
  expect(taken.map(({ queues }) => queues.join(" "))).toEqual(["a b", "c d", "e a"]);
});
