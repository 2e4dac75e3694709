import { composed } from "../database/composed.ts";
import { hidden, uuidArray } from "../database/literals.ts";
import { executeOn } from "../database/statement.ts";
import type { Deps } from "../deps.ts";
import type { ReadyInGroup, ReadyJob } from "../signal/signal.ts";

/** Jobs of one tenant with their groups, in the same order; those that are gone are left out. */
export async function inGroups(
  deps: Pick<Deps, "database">,
  tenant: string,
  jobs: readonly ReadyJob[],
): Promise<ReadyInGroup[]> {
  const params = [tenant, uuidArray(jobs.map(({ id }) => id))];
  const rows = await executeOn(deps.database)<{ id: string; group_key: string | null }>({ text, params });
  const groups = new Map(rows.map(({ id, group_key }) => [id, group_key]));
  return jobs.flatMap((job) => {
    const group = groups.get(job.id);
    return group === undefined ? [] : [{ ...job, group }];
  });
}

const text = composed(
  "turns/in-groups",
  ["tenant", "ids"],
  `SELECT id, group_key FROM atlasqueue.jobs WHERE id = ANY(${hidden("$2::uuid[]")}) AND tenant = $1`,
);
