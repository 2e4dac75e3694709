import { expect, test } from "vitest";
import type { Database } from "../database/connect.ts";
import { DatabaseTimeoutError } from "../database/errors.ts";
import { byHalves, nextRows, type Pace } from "./by-halves.ts";

const timeout_ms = 60_000;
const deps = { database: { timeout_ms } as Database };
const nobody = () => expect.unreachable("nothing is passed over");

test("a half is not sent before the late page is over", async () => {
  const sent: string[] = [];
  let end: () => void = () => {};
  const late = new Promise<void>((resolve) => (end = resolve)).then(() => sent.push("over"));
  const take = async (rows: number): Promise<number> => {
    sent.push(`of ${rows}`);
    if (rows > 100) throw new DatabaseTimeoutError(timeout_ms, "unknown", late);
    return rows;
  };
  const taking = byHalves(deps, 200, take, nobody);
  // Whatever would be sent at once has been.
  await new Promise((resolve) => setImmediate(resolve));
  end();
  expect(await taking).toBe(100);
  expect(sent).toEqual(["of 200", "over", "of 100"]);
});

test("a late page that does not end is told, and the next call takes half as many", async () => {
  const pace: Pace = { rows: 200 };
  const error = new DatabaseTimeoutError(1, "unknown", new Promise(() => {}));
  const taking = byHalves({ database: { timeout_ms: 1 } as Database }, 200, () => Promise.reject(error), nobody, pace);
  await expect(taking).rejects.toBe(error);
  expect(pace).toEqual({ rows: 100 });
});

test("the next page takes what the last one could, and quick ones twice as many, up to the most", async () => {
  const pace: Pace = { rows: 2_000 };
  let fits = 300;
  const asked: number[] = [];
  const take = async (rows: number): Promise<number> => {
    asked.push(rows);
    if (rows > fits) throw new DatabaseTimeoutError(timeout_ms);
    return rows;
  };
  expect(await byHalves(deps, 2_000, take, nobody, pace)).toBe(250);
  fits = 3_000;
  for (const rows of [500, 1_000, 2_000, 2_000]) expect(await byHalves(deps, 2_000, take, nobody, pace)).toBe(rows);
  expect(asked).toEqual([2_000, 1_000, 500, 250, 500, 1_000, 2_000, 2_000]);
  expect([nextRows(250, 2_000, 0.2), nextRows(250, 2_000, 0.3)]).toEqual([500, 250]);
});
