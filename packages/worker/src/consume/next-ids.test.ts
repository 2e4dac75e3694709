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

test("an id that ends a wait takes what came with it along, unless ids last came alone", async () => {
  const lists = [[], ["b", "c"], [], [], [], [], ["e"], [], []];
  let takes = 0;
  const take: Signal["take"] = async (queues) => ({ ids: lists[takes++] ?? [], from: queues.slice(0, 1) });
  const wait: Signal["wait"] = async ([queue]) => queue && { queue, id: "a" };
  const deps = { signal: { take, wait } } as WorkerDeps;
  const served = createServed(deps, ["default"], ["a"]);
  const line = createTenantLine(deps, served, () => {});
  const nextIds = idSource({ deps, served, line, poll_timeout_seconds: 1 }, new AbortController().signal);
  const taken: [string[], number][] = [];
  for (let at = 0; at < 6; at += 1) taken.push([(await nextIds(10)).ids, takes]);
  expect(taken).toEqual([
    [["a", "b", "c"], 2],
    [["a"], 4],
    [["a"], 5],
    [["a"], 6],
    [["e"], 7],
    [["a"], 9],
  ]);
});
