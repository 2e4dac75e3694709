import type { Deps } from "./deps.ts";
import type { FollowUps } from "./follow-ups.ts";
import { pause } from "./pause.ts";
import { arrivedAfter, arrivedUpTo } from "./queries/arrived-ids.ts";
import { admit } from "./transitions/admit.ts";
import { firstId } from "./transitions/prune.ts";

type AdmitterDeps = Deps & { followUps: Pick<FollowUps, "admitted"> };

const jobs_max = 200;
/** Statements in one go, so that a sweep has time for its other duties. */
const rounds_max = 50;
/** Others may take the keys of some between our look and our statement, again and again. */
const tries_max = 5;
const rest_ms_max = 20;

/**
 * Admit the jobs that have arrived with callers' transactions, and signal them: the net under `admitThese`. One that
 * cannot be admitted now holds up none of the others. Returns how many there were.
 */
export async function admitAll(deps: AdmitterDeps): Promise<number> {
  let total = 0;
  let after: string | undefined = firstId;
  for (let round = 0; round < rounds_max && after !== undefined; round += 1) {
    const ids: string[] = await arrivedAfter(deps, after, jobs_max);
    total += await admitPage(deps, ids);
    after = ids.length === jobs_max ? ids.at(-1) : undefined;
  }
  return total;
}

/** Admit jobs whose transactions have been committed, after those that came before them in their groups. */
export async function admitThese(deps: AdmitterDeps, ids: readonly string[]): Promise<void> {
  for (let round = 0; round < rounds_max; round += 1) {
    const page = await arrivedUpTo(deps, ids, jobs_max);
    if (page.length === 0 || (await admitPage(deps, page)) === 0 || page.length < jobs_max) return;
  }
}

async function admitPage(deps: AdmitterDeps, ids: readonly string[]): Promise<number> {
  let left = ids;
  for (let attempt = 0; attempt < tries_max && left.length > 0; attempt += 1) {
    if (attempt > 0) await pause(rest_ms_max * Math.random());
    const admitted = await admit(deps, left);
    await deps.followUps.admitted(admitted);
    left = admitted.left;
  }
  return ids.length - left.length;
}
