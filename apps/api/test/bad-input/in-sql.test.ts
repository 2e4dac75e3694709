import { testDatabase, type TestDatabase } from "@atlasqueue/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { fieldRows } from "./fields.ts";

// The rows that are sent to `POST /v1/jobs`, for the function `submit`.
let own: TestDatabase;
beforeAll(async () => {
  own = await testDatabase();
});
afterAll(() => own.drop());

const submit = (body: string) =>
  own.database.sql`
    SELECT atlasqueue.submit(body ->> 'type', coalesce(body -> 'payload', '{}'), body::jsonb - 'type' - 'payload')
    FROM (SELECT ${body}::text::json) AS sent(body)`.then(
    () => undefined,
    (error: { code: string; message: string }) => error,
  );

/** PostgreSQL itself refuses them as `jsonb`: no character, nested too deep for its stack. */
const noJsonb = ["22P05", "22P02", "54001"];
/** `jsonb` keeps the last of two options with the same name, before the function sees them. */
const isTwice = (says: string) => says.includes("more than once") && !says.startsWith("/payload");

test("`submit` refuses what the API refuses, and names the same field", async () => {
  let refused = 0;
  for (const { what, v1 = [] } of fieldRows) {
    const [{ send, status, says = "" } = { send: { body: undefined }, status: 0 }] = v1;
    if (typeof send.body !== "string" || isTwice(says)) continue;
    const error = await submit(send.body);
    if (status === 201) expect([what, error?.message]).toEqual([what, undefined]);
    else {
      refused += 1;
      const [, field = ""] = /^(\/\w+)/.exec(says) ?? [];
      expect([what, error?.code]).toEqual([what, error && noJsonb.includes(error.code) ? error.code : "22023"]);
      if (error?.code === "22023") expect([what, error.message]).toEqual([what, expect.stringContaining(field)]);
    }
  }
  expect(refused).toBeGreaterThan(40);
});
