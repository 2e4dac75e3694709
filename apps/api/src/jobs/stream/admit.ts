import type { TraceContext } from "@atlasqueue/contract";
import { StorageFullError, type Submission } from "@atlasqueue/core/internal/http";
import type { RouteDeps } from "../../route/deps.ts";
import type { Asked } from "./read-line.ts";

/** A line that may be stored. */
export type Admitted = { line: number; bytes: number; submission: Submission & { idempotency_key: string } };

/** What is thrown for a line, by its number. */
export type Refusals = Map<number, unknown>;

type Admitting = Pick<RouteDeps, "queueBound" | "storageQuota"> & { tenant: string; trace: TraceContext | undefined };

/**
 * Which lines the tenant's bounds let in; what they refuse goes to `refusals`, each line for itself. Rejects as the
 * database does.
 */
export async function admitLines(deps: Admitting, asked: readonly Asked[], refusals: Refusals): Promise<Admitted[]> {
  const wished = asked.flatMap(({ line, bytes, wish }): Admitted[] =>
    wish ? [{ line, bytes, submission: { tenant: deps.tenant, ...wish, trace: deps.trace } }] : [],
  );
  const refused = await deps.queueBound.admitEach(
    deps.tenant,
    wished.map(({ submission }) => submission.request.queue),
  );
  const within = wished.filter(({ line, submission }) => {
    const refusal = refused.get(submission.request.queue);
    if (refusal) refusals.set(line, refusal);
    return !refusal;
  });
  return withinQuota(deps, within, refusals);
}

/** All together; if that is refused, in halves: a line that fits, or was stored before, is not refused for its neighbours. */
async function withinQuota(deps: Admitting, lines: Admitted[], refusals: Refusals): Promise<Admitted[]> {
  const [first] = lines;
  if (!first) return [];
  const bytes = lines.reduce((sum, one) => sum + one.bytes, 0);
  const keys = lines.map(({ submission }) => submission.idempotency_key);
  try {
    await deps.storageQuota.admit(deps.tenant, { bytes, jobs: lines.length, keys });
    return lines;
  } catch (error) {
    if (!(error instanceof StorageFullError)) throw error;
    if (lines.length === 1) refusals.set(first.line, error);
  }
  if (lines.length === 1) return [];
  const middle = lines.length >> 1;
  return [
    ...(await withinQuota(deps, lines.slice(0, middle), refusals)),
    ...(await withinQuota(deps, lines.slice(middle), refusals)),
  ];
}
