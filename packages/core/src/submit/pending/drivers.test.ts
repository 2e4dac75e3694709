import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { findProgram, submission, testDatabase, forFile } from "@atlasqueue/harness";
import { drizzle } from "drizzle-orm/postgres-js";
import createKnex from "knex";
import { CompiledQuery, Kysely, PostgresDialect } from "kysely";
import { Client, Pool } from "pg";
import postgres from "postgres";
import { DataSource } from "typeorm";
import { expect, test } from "vitest";
import { executeIn, type CallerTransaction } from "../../database/caller-transaction.ts";
import { submitInside } from "./submit-inside.ts";

// The drivers that the guide names, each with the function that it gives there.
const own = forFile(testDatabase);

const asked = { type: "of a driver", payload: { a: "$1 ?" } };
const submitIn = async (tx: CallerTransaction) => {
  const outcome = await submitInside(executeIn(tx), submission(asked), { idempotency_ttl_seconds: 60 });
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

test("postgres.js and drizzle", async () => {
  const sql = postgres(own.url, { max: 1 });
  const work = (last: () => void) => async (tx: CallerTransaction) => {
    await submitIn(tx);
    last();
  };
  await inBoth((last) => sql.begin(work(last)));
  await inBoth((last) => drizzle(sql).transaction(work(last)));
  await sql.end();
});

/** The type that Prisma 7 documents: the values follow the text, and the rows come without anything around them. */
type PrismaTransaction = { $queryRawUnsafe<T>(query: string, ...values: unknown[]): Promise<T>; query: object };
const asPrisma = (client: Client): PrismaTransaction => ({
  $queryRawUnsafe: async <T>(query: string, ...values: unknown[]) => (await client.query(query, values)).rows as T,
  // A model of the caller's.
  query: {},
});

test.each<[string, (client: Client) => CallerTransaction]>([
  ["node-postgres", (client) => client],
  ["the form that Prisma documents", asPrisma],
])("a transaction of %s", async (_name, formOf) => {
  const client = new Client({ connectionString: own.url });
  await client.connect();
  await inBoth(async (last) => {
    await client.query("BEGIN");
    try {
      await submitIn(formOf(client));
      last();
      await client.query("COMMIT");
    } catch (error) {
      await client.query("ROLLBACK");
      throw error;
    }
  });
  await client.end();
});

test("psql runs the SQL of the guide", async () => {
  const page = readFileSync(new URL("../../../../../apps/docs/pages/guides/transactions.md", import.meta.url), "utf8");
  const examples = [...page.matchAll(/```sql\n(.*?)```/gs)].map(([, text = ""]) => text);
  expect(examples).toHaveLength(3);
  const input = ["CREATE TABLE orders (id integer);", ...examples, "INSERT INTO orders VALUES (17);"].join("\n");
  const args = [own.url, "--no-psqlrc", "--tuples-only", "--set=ON_ERROR_STOP=1"];
  const { status, stderr } = spawnSync(findProgram("psql") ?? "psql", args, { input, encoding: "utf8" });
  expect([status, stderr]).toEqual([0, ""]);
  const rows = await own.database.sql`SELECT type, status, payload FROM atlasqueue.jobs ORDER BY id`;
  expect([...rows]).toEqual([
    { type: "email.send", status: "blocked", payload: { to: "a@example.org" } },
    { type: "pack", status: "queued", payload: {} },
    { type: "ship", status: "blocked", payload: {} },
    { type: "invoice.write", status: "blocked", payload: { id: 17 } },
  ]);
});
