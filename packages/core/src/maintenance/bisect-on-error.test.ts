import { expect, test } from "vitest";
import type { Database } from "../database/connect.ts";
import { DatabaseTimeoutError } from "../database/errors.ts";
import { bisectOnError } from "./bisect-on-error.ts";

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
  const taking = bisectOnError(deps, 200, take, nobody);
  // Whatever would be sent at once has been.
  await new Promise((resolve) => setImmediate(resolve));
  end();
  expect(await taking).toBe(100);
  expect(sent).toEqual(["of 200", "over", "of 100"]);
});

test("a late page that does not end is an error", async () => {
  const error = new DatabaseTimeoutError(1, "unknown", new Promise(() => {}));
  const database = { timeout_ms: 1 } as Database;
  await expect(bisectOnError({ database }, 200, () => Promise.reject(error), nobody)).rejects.toBe(error);
});
