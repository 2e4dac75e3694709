import { expect, test } from "vitest";
import { row_bytes } from "./look.ts";
import { nothing, nothingKnown, reckon, type Sizes } from "./reckon.ts";

const small = 500;
const large = 200_000;
const of = (jobs: number, bytes: number): Sizes => ({ jobs, bytes: jobs * bytes });

/** A tenant's looks, ten seconds apart: how many jobs it has, what the look came upon, and what was let in before. */
function looks() {
  let known = nothingKnown;
  return (jobs: number, sampled: Sizes, let_in = nothing) => {
    const mean_bytes = sampled.jobs > 0 ? sampled.bytes / sampled.jobs : null;
    known = reckon(
      known,
      { tenant: "default", jobs, sampled: sampled.jobs, mean_bytes, kept_bytes: 0 },
      { let_in: { jobs: let_in.jobs, bytes: let_in.bytes - let_in.jobs * row_bytes }, looks: 1 },
    );
    return known.bytes;
  };
}
/** Within a tenth, or the part. */
const about = (bytes: number, part = 0.1) => ({
  asymmetricMatch: (found: unknown) => Math.abs(Number(found) / bytes - 1) <= part,
});

test("jobs that are gone say nothing of those that are there", () => {
  const look = looks();
  for (let at = 0; at < 80; at += 1) look(1_000, nothing, of(1_000, small));
  look(0, nothing);
  expect(look(20, nothing, of(20, large))).toEqual(about(20 * large));
  // Not even while there are always some.
  const busy = looks();
  for (let at = 0; at < 80; at += 1) busy(100, nothing, of(1_000, small));
  expect(busy(400, nothing, of(400, large))).toBeGreaterThan(0.75 * 400 * large);
});

test("what the samples have not come upon yet counts as what was let in, however many small jobs they came upon", () => {
  const look = looks();
  for (let at = 0; at < 100; at += 1) look(100_000, of(800, small));
  expect(look(100_400, of(800, small), of(400, large))).toEqual(about(100_000 * small + 400 * large));
  expect(look(100_800, of(800, small), of(400, large))).toEqual(about(100_000 * small + 800 * large));
});

test("what was let in and then removed again, or was there already, counts for some minutes only", () => {
  const look = looks();
  look(100_000, of(800, small));
  expect(look(100_000, of(800, small), of(1_000, large))).toBeGreaterThan(2 * 100_000 * small);
  for (let at = 0; at < 200; at += 1) look(100_000, of(800, small));
  expect(look(100_000, of(800, small))).toEqual(about(100_000 * small, 0.02));
});

test("jobs like those in the samples count once, however many are let in", () => {
  const look = looks();
  look(100_000, of(800, small), of(10_000, small));
  for (let at = 0; at < 30; at += 1)
    expect(look(100_000, of(800, small), of(10_000, small))).toEqual(about(100_000 * small, 0.001));
});

test("small jobs hide no large ones among them", () => {
  const look = looks();
  for (let at = 0; at < 100; at += 1) look(100_000, of(800, small));
  const mixed = { jobs: 10_010, bytes: 10_000 * small + 10 * large };
  let bytes = 0;
  for (let at = 1; at <= 10; at += 1) bytes = look(100_000 + at * 10_010, of(800, small), mixed);
  expect(bytes).toBeGreaterThan(200_000 * small + 80 * large);
});

test("a tenant whose small and large jobs are far apart in the table is reckoned by many looks", () => {
  const look = looks();
  // Every tenth look comes upon a page of large ones: thirty among a thousand.
  const seen = Array.from({ length: 300 }, (_, at) =>
    look(100_000, at % 10 === 0 ? { jobs: 1_000, bytes: 970 * small + 30 * large } : of(1_000, small)),
  );
  for (const bytes of seen.slice(200)) expect(bytes).toEqual(about(99_700 * small + 300 * large, 0.25));
});

test("few in each sample are many in all, and bind a process that has let in nothing like them", () => {
  const look = looks();
  for (let at = 0; at < 30; at += 1) look(1_000, of(2, large), of(5, small));
  expect(look(1_000, of(2, large))).toEqual(about(1_000 * large));
});

test("a table that is read whole is reckoned by what is there alone", () => {
  const look = looks();
  look(10, of(10, small));
  expect(look(3, of(3, large), of(50, small))).toBe(3 * large);
  expect(look(3, of(3, small), of(50, large))).toBe(3 * small);
  expect(look(0, nothing, of(50, large))).toBe(0);
});

test("a look that counts fewer jobs than it came upon, or less than none, spoils none of the next", () => {
  for (const counted of [5, -1]) {
    const look = looks();
    const all = () => look(10, of(10, small));
    all();
    look(counted, of(10, small), of(1, small));
    expect(all()).toEqual(about(10 * small));
  }
});
