import { bulkRequest, listDeadQuery, type BulkAnswer, type BulkRequest, type JobPage } from "@atlasqueue/contract";
import {
  listDead,
  purgeAll,
  replayAll,
  showJob,
  type DeadFilter,
  type DeadPlace,
  type Deps,
  type FollowUps,
} from "@atlasqueue/core/internal";
import { Hono } from "hono";
import { requires } from "../access/requires.ts";
import { answerJson } from "../http/answers/answer.ts";
import type { ApiContext, ApiEnv } from "../http/context.ts";
import type { CursorOf, Cursors } from "../http/input/cursor.ts";
import type { Gate } from "../http/gate.ts";
import { holderOf } from "../http/input/holder.ts";
import { hangUpOf } from "../http/input/hang-up.ts";
import { readQuery } from "../http/input/query.ts";
import { readRequest } from "../http/body/request.ts";
import { tenantOf } from "../http/input/tenant.ts";

export type DlqRouteDeps = Deps & { followUps: FollowUps; gate: Gate; cursors: Cursors };

/** 1,000 ids, and room for whitespace. */
const body_bytes_max = 131_072;

/** Dead letters: list, replay and purge, the latter two by ids or by filter. */
export function dlqRoutes(deps: DlqRouteDeps): Hono<ApiEnv> {
  const routes = new Hono<ApiEnv>();

  routes.get("/dlq", requires("read"), async (c) => {
    const { limit, cursor, ...fields } = readQuery(c, listDeadQuery);
    const of: CursorOf = { list: "dead", tenant: tenantOf(c), filter: fields };
    const before = placeOf(deps.cursors.read(of, cursor));
    const { rows, next } = await deps.gate.hold(holderOf(c), 0, () =>
      listDead(deps, tenantOf(c), fields, limit, before),
    );
    const next_cursor = next === undefined ? null : deps.cursors.write(of, `${next.dead_us} ${next.id}`);
    return answerJson(c, 200, { items: rows.map(showJob), next_cursor } satisfies JobPage);
  });

  const change = async (c: ApiContext, changeAll: typeof replayAll) => {
    const { value, bytes } = await readRequest(c, bulkRequest, { bytes_max: body_bytes_max });
    const options = { dry_run: value.dry_run, stop: hangUpOf(c) };
    const filter = filterOf(tenantOf(c), value);
    const outcome = await deps.gate.hold(holderOf(c), bytes, () => changeAll(deps, filter, options));
    return answerJson(c, 200, outcome satisfies BulkAnswer);
  };
  routes.post("/dlq/replay", requires("admin"), (c) => change(c, replayAll));
  routes.post("/dlq/purge", requires("admin"), (c) => change(c, purgeAll));

  return routes;
}

/** In the order of death a place is a time and an id. */
function placeOf(text: string | undefined): DeadPlace | undefined {
  const [dead_us, id] = text?.split(" ") ?? [];
  return dead_us === undefined || id === undefined ? undefined : { dead_us: Number(dead_us), id };
}

function filterOf(tenant: string, { ids, queue, type }: BulkRequest): DeadFilter {
  return ids ? { tenant, ids } : { tenant, queue, type };
}
