import type { FlowJob } from "@atlasqueue/contract";
import { expect, test } from "vitest";
import { criticalPath } from "./show-flow.ts";

/** "a+3" ended at second 3, "b" has not; what follows are the parents. */
const jobs = (...lines: string[]) =>
  lines.map((line): Pick<FlowJob, "id" | "status" | "depends_on" | "finished_at"> => {
    const [name = "", ...depends_on] = line.split(" ");
    const [id = "", end] = name.split("+");
    const finished_at = end === undefined ? null : new Date(Number(end) * 1_000).toISOString();
    return { id, status: finished_at ? "succeeded" : "blocked", depends_on, finished_at };
  });

test("it goes from the job that ended last to the parents that ended last", () => {
  expect(criticalPath(jobs("a+1", "b+5", "c+7 a b", "d+6 a", "e+9 c d"))).toEqual(["b", "c", "e"]);
});

test("what has not ended counts as ending last, and of that the longest chain", () => {
  expect(criticalPath(jobs("a+1", "b+9", "c a", "d c", "e b"))).toEqual(["a", "c", "d"]);
  expect(criticalPath(jobs("a", "b", "c a", "d b c"))).toEqual(["a", "c", "d"]);
});

test("parents from outside are left out, and no jobs have no path", () => {
  expect(criticalPath(jobs("a+1 stranger"))).toEqual(["a"]);
  expect(criticalPath([])).toEqual([]);
});

test("a chain of a thousand, given in any order, and a circle that cannot be, come to an end", () => {
  const chain = Array.from({ length: 1_000 }, (_, at) => (at === 0 ? "0" : `${at} ${at - 1}`));
  expect(criticalPath(jobs(...chain.toReversed()))).toEqual(chain.map((_, at) => String(at)));
  expect(criticalPath(jobs("a b", "b a"))).toHaveLength(2);
});
