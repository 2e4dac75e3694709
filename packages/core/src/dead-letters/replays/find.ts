import { and, desc, eq, lt } from "../../database/drizzle.ts";
import { plain } from "../../database/plain.ts";
import { deadLetterReplays, type ReplayRow } from "../../database/schema/index.ts";
import type { Deps } from "../../deps.ts";

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

/** A tenant's replays, newest first, below an id. */
export async function listReplays(
  deps: Pick<Deps, "database">,
  tenant: string,
  replays_max: number,
  below: string | undefined,
): Promise<{ rows: ReplayRow[]; next: string | undefined }> {
  const rows = await plain(deps.database, (db) =>
    db
      .select()
      .from(deadLetterReplays)
      .where(
        and(eq(deadLetterReplays.tenant, tenant), below === undefined ? undefined : lt(deadLetterReplays.id, below)),
      )
      .orderBy(desc(deadLetterReplays.id))
      .limit(replays_max + 1),
  );
  const shown = rows.slice(0, replays_max);
  return { rows: shown, next: rows.length > replays_max ? shown.at(-1)?.id : undefined };
}
