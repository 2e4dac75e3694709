import { bulkAnswer, bulkRequest, jobPage, limits, listDeadQuery, type BulkRequest } from "@atlasqueue/contract";
import { listDead, purgeAll, replayAll, showJob, type DeadFilter, type DeadPlace } from "@atlasqueue/core/internal";
import type { CursorOf } from "../http/input/cursor.ts";
import type { RouteDeps } from "../route/deps.ts";
import { exampleId, exampleJob } from "../route/examples.ts";
import { route } from "../route/route.ts";

/** 1,000 ids, with room for whitespace. */
const body_bytes_max = 131_072;

const which =
  `The dead letters are chosen by \`ids\`, ${limits.bulk_ids_max} at most, or by \`queue\`, \`type\` or both, or by \`all\`. Each step of ` +
  "500 is its own transaction. When `changed` is less than `matched` the request ran out of time, after about four seconds, " +
  "or another request held some: ask again. With `dry_run` nothing is changed.";

const bulk = {
  method: "post",
  tag: "Dead letters",
  scope: "admin",
  answers: {
    200: {
      description: "How many there were when the request came, and how many were changed.",
      schema: bulkAnswer,
      example: { matched: 600, changed: 600 },
    },
  },
  problems: ["validation"],
} as const;
const body = { schema: bulkRequest, foreign: { ids: [exampleId] }, bytes_max: body_bytes_max } as const;

const list = route(
  {
    method: "get",
    path: "/v1/dlq",
    id: "listDeadLetters",
    tag: "Dead letters",
    summary: "List dead jobs, most recently dead first",
    scope: "read",
    request: { query: listDeadQuery },
    answers: {
      200: {
        description:
          "A page. It may be short, even empty, and still have a `next_cursor`; null means there is no more.",
        schema: jobPage,
        example: { items: [exampleJob], next_cursor: null },
      },
    },
    problems: ["validation"],
  },
  async ({ deps, tenant, query: { limit, cursor, ...filter } }) => {
    const of: CursorOf = { list: "dead", tenant, filter };
    const before = placeOf(deps.cursors.read(of, cursor));
    const { rows, next } = await listDead(deps, tenant, filter, limit, before);
    const next_cursor = next === undefined ? null : deps.cursors.write(of, `${next.dead_us} ${next.id}`);
    return { items: rows.map(showJob), next_cursor };
  },
);

const replay = route(
  {
    ...bulk,
    path: "/v1/dlq/replay",
    id: "replayDeadLetters",
    summary: "Replay dead jobs",
    description: `They are queued now, as if they were new, and keep their history. ${which}`,
    request: { body: { ...body, example: { queue: "mail", type: "mail.send" } } },
  },
  (call) => change(call, replayAll),
);

const purge = route(
  {
    ...bulk,
    path: "/v1/dlq/purge",
    id: "purgeDeadLetters",
    summary: "Remove dead jobs",
    description: `They are gone, with their history, and their idempotency keys are free again. ${which}`,
    request: { body: { ...body, example: { queue: "mail", dry_run: true } } },
  },
  (call) => change(call, purgeAll),
);

/** Dead jobs: listed, replayed, or removed, the latter two by ids or by filter. */
export const deadLetterRoutes = [list, replay, purge];

type Change = { deps: RouteDeps; tenant: string; body: BulkRequest; hungUp(): AbortSignal };

function change({ deps, tenant, body: { dry_run, ...wanted }, hungUp }: Change, changeAll: typeof replayAll) {
  return changeAll(deps, filterOf(tenant, wanted), { dry_run, stop: hungUp() });
}

/** A position in the order of death is a time and an id. */
function placeOf(text: string | undefined): DeadPlace | undefined {
  const [dead_us, id] = text?.split(" ") ?? [];
  return dead_us === undefined || id === undefined ? undefined : { dead_us: Number(dead_us), id };
}

function filterOf(tenant: string, { ids, queue, type }: Omit<BulkRequest, "dry_run">): DeadFilter {
  return ids ? { tenant, ids } : { tenant, queue, type };
}
