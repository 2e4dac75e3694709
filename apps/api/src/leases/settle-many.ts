import { limits, settleAnswer, settleRequest } from "@atlasqueue/contract";
import {
  afterSome,
  inParts,
  releaseRemote,
  settleRemote,
  type Held,
  type RemoteOutcome,
} from "@atlasqueue/core/internal/http";
import { invalid } from "../http/answers/problem.ts";
import { requireSmall } from "../http/body/body.ts";
import { exampleId, exampleToken } from "../route/examples.ts";
import { ok } from "../route/answers.ts";
import { route } from "../route/route.ts";
import { exampleLease, holdsOf, releaseIfGone, showLeases } from "./show-leases.ts";

export const settleMany = route(
  {
    at: "POST /v1/leases/settle",
    id: "settleLeases",
    tag: "Leases",
    summary: "Settle many jobs at once",
    description:
      "`releases` are jobs to release: they are ready again, and no attempt is counted.\n\n" +
      "With `next`, the next job of each group whose job was acked is leased in the same transaction and comes with the " +
      "answer: one request and one write to the disk for each job of an ordered group. None comes when its group has no " +
      "other that is due, or its queue is paused, has limits or `fair_by`, or runs several jobs of a group. With a " +
      "`lease_token` in it, repeat the request unchanged if no response comes: it returns the jobs that are still leased " +
      "under it. Lease without `next` now and then, so that other groups get a worker too.",
    scope: "work",
    gate: "lease",
    request: {
      body: {
        schema: settleRequest,
        example: {
          acks: [{ id: exampleId, lease_token: exampleToken, result: { sent: true } }],
          next: { worker_id: "worker-1" },
        },
        bytes_max: limits.error_body_bytes_max,
      },
    },
    answers: ok(
      "One outcome for each ack, nack and release, in order; with `next`, the jobs that were leased.",
      settleAnswer,
      {
        acks: [{ id: exampleId, outcome: "succeeded" }],
        nacks: [],
        next: [exampleLease],
        waited_ms: 0,
        remaining_ms: 30_000,
        repeated: false,
      },
    ),
  },
  async (call) => {
    const { deps, tenant, body, bytes } = call;
    const { acks, nacks, releases, next } = body;
    const came_at = performance.now();
    requireDistinct({ acks, nacks, releases });
    acks.forEach(({ result }, at) => requireSmall(result, `/acks/${at}/result`, bytes, limits.result_bytes_max));
    nacks.forEach(({ error_data }, at) =>
      requireSmall(error_data, `/nacks/${at}/error_data`, bytes, limits.error_data_bytes_max),
    );
    const go_on = next ? { ...next, release: deps.longPoll.release } : undefined;
    // Both at once: a locked row delays only its own job.
    const settling = settleRemote(deps, tenant, acks, nacks, go_on);
    const releasing = releaseRemote(deps, tenant, releases ?? []);
    const [outcomes, released] = await inParts(
      { does: acks.length + nacks.length > 0, work: settling },
      { does: (releases ?? []).length > 0, work: releasing },
    );
    const show = (items: readonly { id: string }[], of: readonly RemoteOutcome[]) =>
      items.map(({ id }, at) => ({ id, outcome: of[at] as RemoteOutcome }));
    const leased = next && {
      next: await showLeases(deps, tenant, outcomes.next.jobs).catch(afterSome(true)),
      ...holdsOf(outcomes.next, came_at),
    };
    releaseIfGone(call, outcomes.next, next?.lease_token);
    const given = releases && { releases: show(releases, released) };
    return { acks: show(acks, outcomes.acks), nacks: show(nacks, outcomes.nacks), ...given, ...leased };
  },
);

/** A job settled twice in one request would have two outcomes. */
function requireDistinct(lists: Readonly<Record<string, readonly Held[] | undefined>>): void {
  const seen = new Set<string>();
  const places = Object.entries(lists).flatMap(([list, items = []]) =>
    items.map(({ id }, at) => ({ id, pointer: `/${list}/${at}/id` })),
  );
  const again = places.filter(({ id }) => seen.size === seen.add(id).size);
  if (again.length > 0)
    throw invalid(again.slice(0, 20).map(({ pointer }) => ({ pointer, message: "must not name a job again" })));
}
