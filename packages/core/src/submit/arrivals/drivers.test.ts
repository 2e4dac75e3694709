import { submission, testDatabase } from "@atlasqueue/testing";
import createKnex from "knex";
import { CompiledQuery, Kysely, PostgresDialect } from "kysely";
import { Pool } from "pg";
import { DataSource } from "typeorm";
import { afterAll, beforeAll, expect, test } from "vitest";
import { executeIn, type CallerTransaction } from "../../database/caller-transaction.ts";
import { submitInside } from "./submit-inside.ts";

// The drivers that the README names, each with the function that it gives there.
let own: Awaited<ReturnType<typeof testDatabase>>;
beforeAll(async () => {
  own = await testDatabase();
});
afterAll(() => own.drop());

const asked = { type: "of a driver", payload: { a: "$1 ?" } };
const submitIn = async (tx: CallerTransaction) => {
  const { outcome } = await submitInside(executeIn(tx), submission(asked), { idempotency_ttl_seconds: 60 });
  expect(outcome).toMatchObject({ kind: "created", job: { status: "queued" } });
};
const stored = async () => {
  const rows = await own.database.sql<{ payload: object }[]>`
    DELETE FROM atlasqueue.jobs WHERE type = 'of a driver' RETURNING payload`;
  return rows.map(({ payload }) => payload);
};
const end = () => {
  throw new Error("rolled back");
};

/** Runs its work in a transaction that commits, then in one that does not. */
async function inBoth(begin: (end: () => void) => Promise<unknown>): Promise<void> {
  await begin(() => {});
  expect(await stored()).toEqual([asked.payload]);
  await expect(begin(end)).rejects.toThrow("rolled back");
  expect(await stored()).toEqual([]);
}

test("Kysely", async () => {
  const kysely = new Kysely<unknown>({
    dialect: new PostgresDialect({ pool: new Pool({ connectionString: own.url }) }),
  });
  await inBoth((last) =>
    kysely.transaction().execute(async (tx) => {
      await submitIn(async (text, params) => (await tx.executeQuery(CompiledQuery.raw(text, [...params]))).rows);
      last();
    }),
  );
  await kysely.destroy();
});

test("Knex", async () => {
  const knex = createKnex({ client: "pg", connection: own.url });
  await inBoth((last) =>
    knex.transaction(async (tx) => {
      await submitIn(
        async (text, params) => (await tx.raw(text.replaceAll(/\$\d/g, "?"), [...params] as string[])).rows,
      );
      last();
    }),
  );
  await knex.destroy();
});

test("TypeORM", async () => {
  const typeorm = await new DataSource({ type: "postgres", url: own.url }).initialize();
  await inBoth((last) =>
    typeorm.transaction(async (tx) => {
      await submitIn(tx);
      last();
    }),
  );
  await typeorm.destroy();
});
