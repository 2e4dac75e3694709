import { expect, test } from "vitest";
import { medianCosts } from "./costs.ts";

const one = { client_us: 1, postgres_us: 2, redis_us: 3, waited_us: 5, wal_bytes: 4 };

test("each cost has its own median, and fsyncs that of the rounds that could tell", () => {
  expect(
    medianCosts([
      { ...one, client_us: 9, wal_fsyncs: 0.5 },
      { ...one, client_us: 2, wal_bytes: 40 },
      { ...one, client_us: 4, wal_bytes: 50, wal_fsyncs: 0.7 },
    ]),
  ).toEqual({ client_us: 4, postgres_us: 2, redis_us: 3, waited_us: 5, wal_bytes: 40, wal_fsyncs: 0.6 });
});

test("fsyncs that no round could tell are missing", () => {
  expect(medianCosts([one, one])).toEqual(one);
});
