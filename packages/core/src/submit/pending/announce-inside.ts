import type { JobStatus } from "@atlasqueue/contract";
import { isUuid, uuidArray } from "../../database/literals.ts";
import { executeOn } from "../../database/statement.ts";
import type { Deps } from "../../deps.ts";
import type { FollowUps } from "../../follow-ups.ts";
import { pause } from "../../pause.ts";
import { announce } from "../../signal/announce.ts";
import type { ReadyJob, Signal } from "../../signal/signal.ts";

/**
 * What jobs that were submitted in a caller's transaction need after the commit: the ready ones are signalled, and the
 * pending ones admitted. Never rejects. What is not done by the database's deadline, the sweep does.
 *
 * @example
 * await announceInside(deps, followUps, "default", [{ id }]);
 */
export async function announceInside(
  deps: Deps & { signal: Signal },
  followUps: Pick<FollowUps, "drain">,
  tenant: string,
  submitted: readonly { id: string }[],
): Promise<void> {
  const params = [uuidArray(submitted.map(({ id }) => id).filter(isUuid)), tenant];
  const look = async (): Promise<void> => {
    const jobs = await executeOn(deps.database)<ReadyJob & { status: JobStatus }>({ text, params });
    await announce(
      deps,
      jobs.filter(({ status }) => status === "queued"),
    );
    if (jobs.some(({ status }) => status === "blocked")) await followUps.drain();
  };
  const over = new AbortController();
  const report = (error: unknown) => deps.observe({ event: "follow_up_failed", error: String(error) });
  await Promise.race([look().catch(report), pause(deps.database.timeout_ms, over.signal)]);
  over.abort();
}

const text =
  "SELECT id, tenant, queue, priority, status FROM atlasqueue.jobs WHERE id = ANY($1::uuid[]) AND tenant = $2";
