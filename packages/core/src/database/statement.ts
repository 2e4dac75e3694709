import { bounded } from "./bounded.ts";
import type { Database } from "./connect.ts";
import { inTurn } from "./pool/fair-share.ts";

/** SQL with $1, $2 …, for statements that must also run inside a caller's own transaction, whatever its driver. */
export type Statement = { text: string; params: readonly (string | number)[] };

/** Runs a statement and returns its rows. Column types depend on the driver: times may be Date or text. */
export type Execute = <Row>(statement: Statement) => Promise<readonly Row[]>;

/**
 * How the driver sends a statement of ours: prepared, and whole, which is our patch's. Left to itself it asks for the
 * types of the parameters first, and the server waits for the rest in the middle of the statement. Should this process
 * stand still then, no timeout of the server's ends the transaction with its locks, as it does not count as idle. Our
 * parameters are texts and numbers, which are sent the same whatever their types. It also saves the way there and back.
 * Not `simple`, as it is by default without parameters: such a statement would be parsed and planned each time.
 */
export const sentWhole = { prepare: true, whole: true, simple: false };

/** Runs statements on a pool, prepared, each under the database's deadline; or `within` a transaction. */
export function executeOn(database: Database): Execute {
  if (database.within) return database.within;
  return <Row>({ text, params }: Statement) =>
    inTurn(database, async (began_at) => {
      const query = database.sql.unsafe(database.schema.fill(text), [...params], sentWhole);
      return (await bounded(database, query, database.timeout_ms, began_at)) as unknown as readonly Row[];
    });
}
