import { expect, test } from "vitest";
import { deadLetterCursorKey, deadLetterMembersKey, defaultKeys, queueKeys, workersKey } from "../keys.ts";
import { clusterKeys, slotOf } from "./cluster-keys.ts";

const keys = clusterKeys(defaultKeys);
const refs = Array.from({ length: 1_000 }, (_, at) => ({
  tenant: at % 3 === 0 ? "default" : `t${at}`,
  queue: `q${at}`,
}));
const slotsOf = (...names: string[]) => new Set(names.map(slotOf)).size;

test("the keys that one script names share a slot", () => {
  for (const ref of refs) {
    const { list, priorities, overflow } = queueKeys(keys, ref);
    expect(slotsOf(list, priorities, overflow)).toBe(1);
  }
  const dead = [deadLetterMembersKey(keys), deadLetterCursorKey(keys)];
  expect(slotsOf(defaultKeys.deadLetters, ...dead)).toBe(1);
  expect(slotsOf(workersKey(keys, "default"), workersKey(keys, "acme"))).toBe(1);
});

test("queues are spread over eight slots, one in each eighth of the range", () => {
  const slots = [...new Set(refs.map((ref) => slotOf(queueKeys(keys, ref).list)))].toSorted((a, b) => a - b);
  expect(slots.map((slot) => Math.floor((slot * 8) / 16_384))).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
  const perSlot = Map.groupBy(refs, (ref) => slotOf(queueKeys(keys, ref).list));
  for (const queues of perSlot.values()) expect(queues.length).toBeGreaterThan(60);
});

test("with a hash tag of the operator's, everything is in its slot and names are as they are elsewhere", () => {
  const own = { jobs: "{acme}:jobs", deadLetters: "{acme}:dlq" };
  const tagged = clusterKeys(own);
  for (const ref of refs) expect(queueKeys(tagged, ref)).toEqual(queueKeys(own, ref));
  expect(workersKey(tagged, "default")).toBe("{acme}:jobs:workers");
  expect(slotsOf(own.jobs, own.deadLetters, deadLetterMembersKey(tagged), workersKey(tagged, "default"))).toBe(1);
});
