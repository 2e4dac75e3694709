import type { Flow, FlowState } from "@atlasqueue/contract";
import { composed } from "../database/composed.ts";
import { executeOn } from "../database/statement.ts";
import type { Deps } from "../deps.ts";
import { countedOf, showFlow, type FlowRow } from "./flow-state.ts";

/** `next` is where the next page begins: below this id. Undefined at the end. */
export type FlowList = { flows: Flow[]; next: string | undefined };

/** The flows one page looks at for those in a state, which only their jobs know. */
const looked_at_max = 200;
const newest = "ffffffff-ffff-ffff-ffff-ffffffffffff";
const oldest = "00000000-0000-0000-0000-000000000000";

/**
 * A tenant's flows, newest first. With a state a page may be short, or empty, and still have a next one.
 *
 * @example
 * const { flows, next } = await listFlows(deps, "default", { state: "held" }, 20);
 */
export async function listFlows(
  deps: Pick<Deps, "database">,
  tenant: string,
  { state }: { state?: FlowState | undefined },
  flows_max: number,
  below: string = newest,
): Promise<FlowList> {
  const flows: Flow[] = [];
  let last = below;
  for (let looked_at = 0; looked_at < looked_at_max; looked_at += flows_max) {
    const rows = await executeOn(deps.database)<FlowRow>({ text, params: [tenant, last, flows_max, oldest] });
    for (const row of rows) {
      last = row.id;
      const one = showFlow(row);
      if (state === undefined || one.state === state) flows.push(one);
      if (flows.length === flows_max) return { flows, next: last };
    }
    if (rows.length < flows_max) return { flows, next: undefined };
  }
  return { flows, next: last };
}

/**
 * A flow and its counts; undefined when the tenant has none with this id.
 *
 * @example
 * const { state } = (await findFlow(deps, "default", id)) ?? {};
 */
export async function findFlow(deps: Pick<Deps, "database">, tenant: string, id: string): Promise<Flow | undefined> {
  const [row] = await executeOn(deps.database)<FlowRow>({ text, params: [tenant, id, 1, id] });
  return row && showFlow(row);
}

// Of one flow, `from` and `below` are its id; in a list `below` is no part of the page.
const text = composed(
  "flows/list",
  ["tenant", "below", "flows_max", "from"],
  `
  WITH page AS MATERIALIZED (
    SELECT id, tenant, created_at FROM atlasqueue.flows
    WHERE tenant = $1 AND id BETWEEN $4::text::uuid AND $2::text::uuid AND (id < $2::text::uuid OR id = $4::text::uuid)
    ORDER BY id DESC LIMIT $3::int
  )
  SELECT page.id, page.created_at, counted.* FROM page CROSS JOIN ${countedOf("page")} AS counted
  ORDER BY page.id DESC`,
);
