import { expect, test } from "vitest";
import { allStatements } from "../../../test/all-statements.ts";
import { schemaNamed } from "./name.ts";

const odd = schemaNamed("Odd-1");

test.each([
  ["SELECT jobs.id FROM atlasqueue.jobs", 'SELECT jobs.id FROM "Odd-1".jobs'],
  ['select "jobs"."id" from "atlasqueue"."jobs"', 'select "jobs"."id" from "Odd-1"."jobs"'],
  ["SELECT 'atlasqueue.jobs'::regclass", `SELECT '"Odd-1".jobs'::regclass`],
  ["SELECT set_config('atlasqueue.locked', 'a', true)", "SELECT set_config('atlasqueue.locked', 'a', true)"],
  ["SELECT current_setting('atlasqueue.locked', true)", "SELECT current_setting('atlasqueue.locked', true)"],
])("%s is sent to another schema as %s", (text, filled) => {
  expect(odd.fill(text)).toBe(filled);
  expect(odd.fill(text)).toBe(filled);
  expect(schemaNamed().fill(text)).toBe(text);
});

test("no statement names the default schema once another one is filled in", async () => {
  for (const { name, text } of await allStatements())
    expect([name, odd.fill(text).match(/(?<!_(?:config|setting)\(')\batlasqueue"?\./)]).toEqual([name, null]);
});
