import {
  createReplay as createReplayBody,
  type CreateReplay,
  limits,
  replay,
  replayPage,
  replayPreview,
  type JsonObject,
  type Replay,
} from "@atlasqueue/contract";
import { createReplay, previewReplay, showReplay } from "@atlasqueue/core/internal/http";
import { actorOf } from "../access/caller.ts";
import { whichOf } from "../audit/told.ts";
import { ProblemError } from "../http/answers/problem.ts";
import type { RouteDeps } from "../route/deps.ts";
import { exampleId } from "../route/examples.ts";
import { steered } from "../operations/steered.ts";
import { route } from "../route/route.ts";

const example: Replay = {
  id: exampleId,
  state: "running",
  filter: { type: "mail.send", fingerprint: "9f3a0c1be2d47586" },
  error: "SmtpError: <n> from relay <text>",
  patch: { relay: "b" },
  rate: 10,
  matched: 1_200,
  matched_complete: true,
  replayed: 300,
  left_over: 0,
  created_by: { kind: "token", token_id: exampleId, name: "ops" },
  created_at: "2030-01-31T12:00:00.000Z",
  updated_at: "2030-01-31T12:00:30.000Z",
  finished_at: null,
};

/** Which jobs and how; the patch may be large and secret, and is with the replay. */
const askReplay = ({ body: { dry_run, filter, rate, patch } }: { body: CreateReplay }) =>
  dry_run ? (false as const) : { detail: { ...whichOf(filter), rate: rate ?? null, patched: patch !== undefined } };
const tellReplay = (input: { body: CreateReplay }, { body }: { body: unknown }) => {
  const { id, matched, error } = body as Replay;
  const asked = askReplay(input);
  return { target: id, count: matched, ...(asked && error && { detail: { ...asked.detail, error } }) };
};

const create = route(
  {
    at: "POST /v1/dlq/replays",
    id: "createReplay",
    audit: { action: "replay.create", asks: askReplay, tells: tellReplay },
    tag: "Dead letters",
    summary: "Start a replay of dead letters",
    description:
      "The jobs that are dead now and match are queued again page by page, at most `rate` a second, with `patch` merged " +
      "into their payloads; any process carries it on, also after a restart. A job that dies again is not replayed " +
      "again. With `dry_run` nothing is changed: the answer says how many there are, shows one of them patched, and has a `died_before` " +
      "that spares what dies after it. A job " +
      "whose patched payload would be too large stays dead.",
    scope: "admin",
    request: {
      body: {
        schema: createReplayBody,
        example: { filter: { type: "mail.send" }, patch: { relay: "b" }, rate: 10, dry_run: true },
        foreign: { filter: { ids: [exampleId] }, dry_run: true },
      },
    },
    answers: {
      201: { description: "The replay, which has begun.", schema: replay, example },
      200: {
        description: "What it would do.",
        schema: replayPreview,
        example: {
          matched: 1_200,
          complete: true,
          died_before: "2030-01-31T12:00:00.000Z",
          sample: {
            id: exampleId,
            type: "mail.send",
            queue: "mails",
            before: { relay: "a" },
            after: { relay: "b" },
            fits: true,
          },
        },
      },
    },
    problems: ["too_many_operations", "storage_full"],
  },
  async ({ deps, tenant, caller, body: { dry_run, ...asked } }) => {
    const wish = { tenant, ...asked, payload_bytes_max: deps.payload_bytes_max };
    if (dry_run) return { status: 200, body: await previewReplay(deps, wish) };
    const row = await createReplay(deps, { ...wish, admit: admitPatch(deps, tenant, asked.patch) }, actorOf(caller));
    if (!row)
      throw new ProblemError("too_many_operations", `A tenant may have ${limits.operations_max} unfinished ones`);
    return { status: 201, body: showReplay(row) };
  },
);

/** As for an edit of each: a patch makes a payload no larger than by itself. */
function admitPatch({ storageQuota }: Pick<RouteDeps, "storageQuota">, tenant: string, patch: JsonObject | undefined) {
  if (patch === undefined) return undefined;
  const bytes = Buffer.byteLength(JSON.stringify(patch));
  return (jobs: number) => storageQuota.admit(tenant, { bytes: jobs * bytes, jobs, keys: [] });
}

const { list, get, steering } = steered({
  name: "replay",
  path: "/v1/dlq/replays",
  tag: "Dead letters",
  kind: "replay",
  schema: replay,
  page: replayPage,
  example,
  show: showReplay,
});

/** Replays that go on in the background. */
export const replayRoutes = [
  create,
  list,
  get,
  steering("pause", "Pause a replay", "Once answered, nothing more is replayed until it is resumed."),
  steering("resume", "Let a replay go on", "From where it stopped."),
  steering("cancel", "End a replay", "What was replayed stays so; the rest stays dead."),
];
