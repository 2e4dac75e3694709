import { forFile, testDatabase } from "@atlasqueue/harness";
import { expect, test } from "vitest";
import { movedTables, unmoved } from "./tables.ts";

const own = forFile(testDatabase);

const tablesWith = async (column: string): Promise<string[]> => {
  const rows = await own.database.sql<{ name: string }[]>`
    SELECT table_name AS name FROM information_schema.columns WHERE table_schema = 'atlasqueue' AND column_name = ${column}`;
  return rows.map(({ name }) => name);
};

test("every table that has a tenant goes to another cell with it, or is named as one that stays", async () => {
  const known = [...movedTables.map(({ name }) => name), ...unmoved];
  expect((await tablesWith("tenant")).toSorted()).toEqual(known.toSorted());
});

test("rows of a job go with their job, and serial numbers stay", async () => {
  const with_job = movedTables.filter(({ of }) => of === "job_id").map(({ name }) => name);
  expect(with_job.toSorted()).toEqual((await tablesWith("job_id")).toSorted());
  const serial = await own.database.sql<{ name: string }[]>`
    SELECT table_name AS name FROM information_schema.columns WHERE table_schema = 'atlasqueue' AND column_default LIKE 'nextval%'`;
  const anew = movedTables.filter(({ order }) => order !== "").map(({ name }) => name);
  expect(anew.toSorted()).toEqual(serial.map(({ name }) => name).toSorted());
});
