import { lastId } from "../ids.ts";
import type { Operation } from "@atlasqueue/contract";
import { and, eq } from "../database/drizzle.ts";
import { composed } from "../database/composed.ts";
import { plain } from "../database/plain.ts";
import { operations, type OperationRow } from "../database/schema/index.ts";
import { executeOn } from "../database/statement.ts";
import type { Deps } from "../deps.ts";
import { bytesOf, fitting, isCut } from "../memory-budget/bytes.ts";

/** An operation of a tenant; with a `kind`, others are unknown. */
export async function findOperation(
  deps: Pick<Deps, "database">,
  tenant: string,
  id: string,
  kind?: Operation["kind"],
): Promise<OperationRow | undefined> {
  const [row] = await plain(deps.database, (db) =>
    db
      .select()
      .from(operations)
      .where(and(eq(operations.tenant, tenant), eq(operations.id, id), kind && eq(operations.kind, kind))),
  );
  return row;
}

/**
 * A tenant's operations, newest first, below an id, of one `kind` or all. Each is shown whole, so a page is cut at its
 * bytes, as one of jobs is.
 */
export async function listOperations(
  deps: Pick<Deps, "database">,
  tenant: string,
  operations_max: number,
  below: string = lastId,
  kind: Operation["kind"] | "" = "",
): Promise<{ rows: OperationRow[]; next: string | undefined }> {
  type Row = OperationRow & { cut: boolean };
  const found = await executeOn(deps.database)<Row>({ text: list, params: [tenant, below, operations_max + 1, kind] });
  const rows = found.slice(0, operations_max).map(({ cut: _cut, ...row }) => row);
  return { rows, next: found[0]?.cut || found.length > operations_max ? rows.at(-1)?.id : undefined };
}

// A patch, and a filter of a thousand ids, may be large.
const list = composed(
  "operations/list",
  ["tenant", "below", "operations_max", "kind"],
  `
  WITH RECURSIVE page AS MATERIALIZED (
    SELECT id FROM atlasqueue.operations
    WHERE tenant = $1 AND id < $2::text::uuid AND ($4 = '' OR kind = $4) ORDER BY id DESC LIMIT $3::int
  ), ${fitting({ from: "(SELECT * FROM atlasqueue.operations WHERE tenant = $1) AS own", key: "id", order: "id DESC", bytes: `${bytesOf("patch")} + ${bytesOf("filter")}` })}
  SELECT *, ${isCut} AS cut FROM atlasqueue.operations WHERE tenant = $1 AND id = ANY(ARRAY(SELECT id FROM fitting)) ORDER BY id DESC`,
);
