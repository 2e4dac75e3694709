import type { SQL } from "drizzle-orm";
import { sql as drizzleSql } from "./drizzle.ts";
import { schemaNamed, type SchemaName } from "./schema/name.ts";
import type { Execute, Statement } from "./statement.ts";

type PostgresJs = { unsafe(text: string, params?: never[]): PromiseLike<readonly unknown[]> };
type Prisma = { $queryRawUnsafe(text: string, ...values: unknown[]): PromiseLike<unknown> };
type NodePostgres = { query(text: string, values?: unknown[]): Promise<{ rows: unknown[] } | unknown[]> };
/** `never`, as drizzle's own type would make every user's compiler read all of drizzle. */
type Drizzle = { execute(query: never): PromiseLike<unknown> };

/** Runs a text with `$1`, `$2` … in your transaction, and resolves with its rows. */
type RunInTransaction = (text: string, params: readonly unknown[]) => PromiseLike<readonly unknown[]>;

/**
 * A transaction of postgres.js (`sql.begin`), drizzle (`db.transaction`), Prisma (`prisma.$transaction`), node-postgres (a
 * client after BEGIN) or TypeORM (an entity manager). For any other driver, one function.
 */
export type CallerTransaction = PostgresJs | NodePostgres | Drizzle | Prisma | RunInTransaction;

/** Run our statements on the caller's transaction; the driver is recognized by its methods. */
export function executeIn(tx: CallerTransaction, { fill }: SchemaName = schemaNamed()): Execute {
  return async <Row>({ text, params }: Statement) => {
    const answer = await run(tx, { text: fill(text), params });
    return (Array.isArray(answer) ? answer : (answer as { rows: unknown[] }).rows) as Row[];
  };
}

async function run(tx: CallerTransaction, { text, params }: Statement): Promise<unknown> {
  // First, as a model of the caller's may have the name of another driver's method.
  if ("$queryRawUnsafe" in tx) return tx.$queryRawUnsafe(text, ...params);
  if ("unsafe" in tx) return tx.unsafe(text, [...params] as never[]);
  if ("execute" in tx) return tx.execute(drizzleQuery({ text, params }) as never);
  if ("query" in tx) return tx.query(text, [...params]);
  if (typeof tx === "function") return tx(text, params);
  throw new TypeError(
    "the transaction must be of postgres.js, drizzle, Prisma, node-postgres or TypeORM, or a function",
  );
}

/** drizzle numbers parameters itself, in the order it meets them: each $n is handed over in place. */
function drizzleQuery({ text, params }: Statement): SQL {
  const parts = text.split(/\$(\d+)/);
  return drizzleSql.join(
    parts.map((part, at) => (at % 2 === 0 ? drizzleSql.raw(part) : drizzleSql`${params[Number(part) - 1]}`)),
  );
}
