import { LeaseLostError, type LeasedJob } from "@atlasqueue/client";
import { pause } from "@atlasqueue/core/internal";
import { chance, type Chance } from "../chance.ts";
import type { History } from "../../history/open-history.ts";
import type { LoadConfig } from "../config.ts";
import { once } from "../submit/insist.ts";
import { task, type Task } from "../task.ts";
import type { Place } from "./with-library.ts";

const jobs_max = 3;
const wait_seconds = 5;
const away_ms = 300;

type Hand = { history: History; config: LoadConfig; place: Place; worker: string; random: Chance };

/**
 * A worker that says every word itself, and is a bad one now and then: it acks twice, acks when its lease has ended, or
 * takes jobs and is never heard of again. Resolves when it was told to stop and holds nothing.
 */
export async function workByHand(
  history: History,
  config: LoadConfig,
  place: Place,
  stopping: AbortSignal,
): Promise<void> {
  const worker = `${config.process}-${place.tenant}-${place.queue}-by-hand`;
  const hand: Hand = { history, config, place, worker, random: chance(config.seed, worker) };
  while (!stopping.aborted) {
    const jobs = await lease(hand, stopping);
    if (jobs.length === 0) await pause(away_ms, stopping);
    await Promise.all(jobs.map((job) => handle(hand, job)));
  }
}

async function lease({ history, config, place, worker }: Hand, stopping: AbortSignal): Promise<LeasedJob[]> {
  const { tenant, queue, api, client } = place;
  const asked = history.invoke("lease", { worker, tenant, to: api, link: linkTo(config, api) });
  const options = {
    workerId: worker,
    leaseSeconds: config.lease_ms / 1_000,
    maxJobs: jobs_max,
    waitSeconds: wait_seconds,
  };
  const known = await once(() => client.lease(queue, options));
  if (known.kind === "refused") asked.fail(known.error);
  else if (known.kind === "unknown") asked.info(known.error);
  else {
    asked.ok({
      jobs: known.value.map(({ job, lease_token }) => ({ job: job.id, attempt: job.attempts, token: lease_token })),
    });
    return known.value;
  }
  await pause(away_ms, stopping);
  return [];
}

export const linkTo = ({ process: name }: LoadConfig, api: string) => `${name}>${api}`;

type Word = "complete" | "fail" | "heartbeat";

/** Says one thing about a lease; it may be told that nobody believes it any more. */
async function say({ history, config, place, worker }: Hand, leased: LeasedJob, as: Word): Promise<void> {
  const { client, api } = place;
  const { job, lease_token } = leased;
  const said = history.invoke("settle", {
    job: job.id,
    attempt: job.attempts,
    token: lease_token,
    worker,
    as,
    to: api,
    link: linkTo(config, api),
  });
  const known = await once<unknown>(() => {
    if (as === "complete") return client.ack(leased, { by: worker });
    if (as === "fail") return client.nack(leased, new Error("as it was asked to"));
    return client.heartbeat(leased, { leaseSeconds: config.lease_ms / 1_000 });
  });
  if (known.kind === "done") said.ok({ answer: "applied" });
  else if (known.kind === "unknown") said.info(known.error);
  else if (known.error instanceof LeaseLostError) said.ok({ answer: "refused" });
  else said.fail(known.error);
}

async function handle(hand: Hand, leased: LeasedJob): Promise<void> {
  const { history, config, place, worker, random } = hand;
  const { job, lease_token: token } = leased;
  const wanted: Task = task.parse(job.payload);
  const { nonce, group } = wanted;
  const manner = random();
  const run = history.invoke("handle", {
    job: job.id,
    attempt: job.attempts,
    token,
    worker,
    tenant: place.tenant,
    queue: job.queue,
    nonce,
    ...(group !== undefined && { group }),
    remote: true,
  });
  // It is gone with what it took, and only its lease's end brings that back.
  if (manner < 0.01) return run.ok({ ended: "aborted" });
  const fails = job.attempts <= wanted.fails;
  const ms = Math.min(job.attempts > 1 ? wanted.later_ms : wanted.ms, 0.6 * config.lease_ms);
  await pause(manner < 0.03 ? 1.5 * config.lease_ms : ms);
  if (manner > 0.9) await say(hand, leased, "heartbeat");
  run.ok({ ended: fails ? "threw" : "returned" });
  await say(hand, leased, fails ? "fail" : "complete");
  if (manner > 0.8 && manner < 0.85) await say(hand, leased, fails ? "fail" : "complete");
}
