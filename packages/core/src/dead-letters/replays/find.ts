import { and, eq } from "../../database/drizzle.ts";
import { composed } from "../../database/composed.ts";
import { plain } from "../../database/plain.ts";
import { deadLetterReplays, type ReplayRow } from "../../database/schema/index.ts";
import { executeOn } from "../../database/statement.ts";
import type { Deps } from "../../deps.ts";
import { bytesOf, fitting, isCut } from "../../jobs/page-bytes.ts";

/** A replay of a tenant. */
export async function findReplay(
  deps: Pick<Deps, "database">,
  tenant: string,
  id: string,
): Promise<ReplayRow | undefined> {
  const [row] = await plain(deps.database, (db) =>
    db
      .select()
      .from(deadLetterReplays)
      .where(and(eq(deadLetterReplays.tenant, tenant), eq(deadLetterReplays.id, id))),
  );
  return row;
}

/** A tenant's replays, newest first, below an id. Each is shown whole, so a page is cut at its bytes, as one of jobs is. */
export async function listReplays(
  deps: Pick<Deps, "database">,
  tenant: string,
  replays_max: number,
  below: string = newest,
): Promise<{ rows: ReplayRow[]; next: string | undefined }> {
  type Row = ReplayRow & { cut: boolean };
  const found = await executeOn(deps.database)<Row>({ text: list, params: [tenant, below, replays_max + 1] });
  const rows = found.slice(0, replays_max).map(({ cut: _cut, ...row }) => row);
  return { rows, next: found[0]?.cut || found.length > replays_max ? rows.at(-1)?.id : undefined };
}

/** An id with all bits set: every replay is below it. */
const newest = "ffffffff-ffff-ffff-ffff-ffffffffffff";

// A patch, and a filter of a thousand ids, may be large.
const list = composed(
  "dead-letters/list-replays",
  ["tenant", "below", "replays_max"],
  `
  WITH RECURSIVE page AS MATERIALIZED (
    SELECT id FROM dead_letter_replays WHERE tenant = $1 AND id < $2::text::uuid ORDER BY id DESC LIMIT $3::int
  ), ${fitting({ from: "dead_letter_replays", key: "id", order: "id DESC", bytes: `${bytesOf("patch")} + ${bytesOf("filter")}` })}
  SELECT *, ${isCut} AS cut FROM dead_letter_replays WHERE id = ANY(ARRAY(SELECT id FROM fitting)) ORDER BY id DESC`,
);
