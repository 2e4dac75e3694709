import { bounded } from "./bounded.ts";
import type { Database } from "./connect.ts";

/** SQL with $1, $2 …, for statements that must also run inside a caller's own transaction, whatever its driver. */
export type Statement = { text: string; params: readonly (string | number)[] };

/** Runs a statement and returns its rows. Column types depend on the driver: times may be Date or text. */
export type Execute = <Row>(statement: Statement) => Promise<readonly Row[]>;

/** Runs statements on a pool, prepared, each under the database's deadline. */
export function executeOn(database: Database): Execute {
  return async <Row>({ text, params }: Statement) => {
    const query = database.sql.unsafe(text, [...params], { prepare: true });
    return (await bounded(database, query)) as unknown as readonly Row[];
  };
}
