import {
  bulkAnswer,
  bulkRequest,
  deadGroupPage,
  jobPage,
  limits,
  listDeadGroupsQuery,
  listDeadQuery,
  type BulkAnswer,
  type BulkRequest,
  type DeadGroup,
} from "@atlasqueue/contract";
import {
  listDead,
  listDeadGroups,
  purgeAll,
  replayAll,
  showJob,
  type ActRow,
  type DeadPlace,
  type GroupPlace,
} from "@atlasqueue/core/internal/http";
import { whichOf } from "../audit/told.ts";
import type { RouteDeps } from "../route/deps.ts";
import { exampleId, exampleJob } from "../route/examples.ts";
import { ok, pageOf, shortPage } from "../route/answers.ts";
import { route } from "../route/route.ts";

const which =
  `The dead letters are chosen by \`ids\`, ${limits.bulk_ids_max} at most, or by any of \`queue\`, \`type\`, ` +
  `\`tag\`, \`fingerprint\`, \`died_after\` and \`died_before\`, or by \`all\`. Each step of ` +
  "500 is its own transaction. When `changed` is less than `matched` the request ran out of time, after about four seconds, " +
  "or another request held some: ask again. With `dry_run` nothing is changed: `complete` is false when there may be more than " +
  "`matched`, and `died_before`, sent with the same filter, leaves out what died since.";

const bulk = {
  tag: "Dead letters",
  scope: "admin",
  answers: ok("How many there were when the request came, and how many were changed.", bulkAnswer, {
    matched: 600,
    changed: 600,
  }),
} as const;
const body = { schema: bulkRequest, foreign: { ids: [exampleId] } } as const;

const exampleGroup: DeadGroup = {
  type: "mail.send",
  fingerprint: "9f3a0c1be2d47586",
  error: "Error: no user ‹n›",
  count: 120,
  count_complete: true,
  first_seen: "2030-01-30T12:00:00.000Z",
  last_seen: "2030-01-31T12:00:00.000Z",
  sample_job_id: exampleId,
  per_hour: Array.from({ length: 24 }, () => 5),
};

const list = route(
  {
    at: "GET /v1/dlq",
    id: "listDeadLetters",
    tag: "Dead letters",
    summary: "List dead letters",
    description: "A page of large jobs ends after about 4 MiB.",
    scope: "read",
    request: { query: listDeadQuery },
    answers: pageOf(jobPage, exampleJob, shortPage),
  },
  async ({ deps, tenant, query: { limit, cursor, ...filter } }) => {
    const page = deps.cursors.page({ list: "dead", tenant, filter }, cursor);
    const { rows, next } = await listDead(deps, tenant, filter, limit, placeOf(page.after));
    return { items: rows.map(showJob), next_cursor: page.next(next && `${next.dead_us} ${next.id}`) };
  },
);

const groups = route(
  {
    at: "GET /v1/dlq/groups",
    id: "listDeadLetterGroups",
    tag: "Dead letters",
    summary: "Group dead letters by type and error",
    description:
      "Errors are alike when their first lines are, without ids, numbers, quoted texts and hexadecimal. Ordered by type " +
      "and fingerprint. The groups of a page share 50,000 jobs that it counts: of a group too large for its share, " +
      "`count_complete` is false, and `count` and `per_hour` are of its newest, so many at least. Jobs that died before an " +
      "upgrade to this are grouped a few minutes after it.",
    scope: "read",
    request: { query: listDeadGroupsQuery },
    answers: pageOf(deadGroupPage, exampleGroup),
  },
  async ({ deps, tenant, query: { limit, cursor, ...filter } }) => {
    const page = deps.cursors.page({ list: "dead groups", tenant, filter }, cursor);
    const after = page.after === undefined ? undefined : (JSON.parse(page.after) as GroupPlace);
    const { groups: items, next } = await listDeadGroups(deps, tenant, filter, limit, after);
    return { items, next_cursor: page.next(next && JSON.stringify(next)) };
  },
);

const askBulk = ({ body: { dry_run, ...chosen } }: { body: BulkRequest }) =>
  dry_run ? (false as const) : { detail: whichOf(chosen) };
const tellBulk = (_input: unknown, { changed }: BulkAnswer) => ({ count: changed });
/** And how many there were, to say so again to the same request. */
const tellReplay = (input: { body: BulkRequest }, { matched, changed }: BulkAnswer) => {
  const asked = askBulk(input);
  return { count: changed, ...(asked && { detail: { ...asked.detail, matched } }) };
};

const replay = route(
  {
    ...bulk,
    at: "POST /v1/dlq/replay",
    id: "replayDeadLetters",
    audit: { action: "dlq.replay", asks: askBulk, tells: tellReplay },
    summary: "Replay dead letters",
    description: `They are queued now, as if they were new, and keep their history. Sent again with the same \`Idempotency-Key\`, it changes nothing more and says what it did. ${which}`,
    request: { idempotency_key: "optional", body: { ...body, example: { queue: "mail", type: "mail.send" } } },
  },
  (call) => (call.repeated ? toldAgain(call.repeated) : change(call, replayAll)),
);

const purge = route(
  {
    ...bulk,
    at: "POST /v1/dlq/purge",
    id: "purgeDeadLetters",
    audit: { action: "dlq.purge", asks: askBulk, tells: tellBulk },
    summary: "Purge dead letters",
    description: `This deletes them and their history. Their idempotency keys are free again. ${which}`,
    request: { body: { ...body, example: { queue: "mail", dry_run: true } } },
  },
  (call) => change(call, purgeAll),
);

/** Dead jobs: listed, replayed, or removed, the latter two by ids or by filter. */
export const deadLetterRoutes = [list, groups, replay, purge];

function toldAgain({ count, detail }: ActRow): BulkAnswer {
  const changed = count ?? 0;
  return { matched: Number(detail?.matched ?? changed), changed };
}

type Change = { deps: RouteDeps; tenant: string; body: BulkRequest; hungUp(): AbortSignal };

function change(call: Change, changeAll: typeof replayAll) {
  const { deps, tenant, hungUp } = call;
  const { dry_run, ids, all: _all, ...traits } = call.body;
  return changeAll(deps, ids ? { tenant, ids } : { tenant, ...traits }, { dry_run, stop: hungUp() });
}

/** A position in the order of death is a time and an id. */
function placeOf(text: string | undefined): DeadPlace | undefined {
  const [dead_us, id] = text?.split(" ") ?? [];
  return dead_us === undefined || id === undefined ? undefined : { dead_us: Number(dead_us), id };
}
