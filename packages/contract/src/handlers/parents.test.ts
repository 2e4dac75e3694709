import { expect, test } from "vitest";
import type { ParentPage, ParentsOfJob } from "../wire/flows/parents.ts";
import { createParents } from "./parents.ts";

const id = "01920000-0000-7000-8000-000000000000";
const counts = { scheduled: 0, blocked: 0, queued: 0, running: 0, failed: 0, succeeded: 2, dead: 0, cancelled: 0 };
const one = { id, status: "succeeded" as const, result: 1 };
const came = (complete: boolean): ParentsOfJob => ({
  parents: { a: one },
  parent_counts: counts,
  parents_complete: complete,
});
const never = () => Promise.reject(new Error("not to be asked"));

test("what came with the job is not asked for again, and an error of the first look is not kept", async () => {
  let looks = 0;
  const first = () => ((looks += 1) === 1 ? never() : Promise.resolve(came(true)));
  const { parents, parentCounts } = createParents({ first, page: never });
  await expect(parents()).rejects.toThrow("not to be asked");
  expect([await parents(), await parentCounts(), looks]).toEqual([{ a: one }, counts, 2]);
});

test("the rest is read page by page, under any name a ref may be", async () => {
  const pages: Record<string, ParentPage> = {
    first: { items: [{ ref: "__proto__", ...one }], next_cursor: "next" },
    next: { items: [{ ref: "constructor", ...one }], next_cursor: null },
  };
  const page = async (cursor = "first") => pages[cursor] ?? never();
  const found = await createParents({ first: async () => came(false), page }).parents();
  expect(Object.entries(found)).toEqual([
    ["__proto__", one],
    ["constructor", one],
  ]);
});

test("more than a process should have in memory is refused", async () => {
  const items = [{ ref: "a", ...one, result: "x".repeat(262_144) }];
  const page = async () => ({ items, next_cursor: "more" });
  await expect(createParents({ first: async () => came(false), page }).parents()).rejects.toThrow(/more than 64 MiB/);
});

test("a result that was kept no longer cannot be read, and taken for none", async () => {
  const gone = { id, status: "succeeded" as const, result: null, result_gone: true as const };
  const { parents } = createParents({
    first: async () => ({ ...came(true), parents: { a: one, gone } }),
    page: never,
  });
  const found = await parents();
  expect([found["a"]?.result, found["gone"]?.status, found["gone"]?.result_gone]).toEqual([1, "succeeded", true]);
  expect(() => found["gone"]?.result).toThrow(`the result of the job ${id}, for which this one waited, is gone`);
  const paged = createParents({
    first: async () => came(false),
    page: async () => ({ items: [{ ref: "gone", ...gone }], next_cursor: null }),
  });
  const all = await paged.parents();
  expect(() => all["gone"]?.result).toThrow("is gone");
});
