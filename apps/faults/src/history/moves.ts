import { z } from "zod";

/** Ids of jobs, tokens and the like: what the programs were told, in the text they got it as. */
const id = z.string().min(1).max(200);
const ms = z.number().nonnegative();

/** How a job should end if nothing goes wrong but the faults; `any` where people interfere with it. */
const expectedEnds = ["succeeded", "dead", "cancelled", "any"] as const;

/** One job as its submitter wants it. The nonce is in its payload too (`payload.nonce`), so a job whose answer got lost is still known. */
const wantedJob = z.object({
  nonce: id,
  kind: id,
  tenant: id,
  queue: id,
  group: id.optional(),
  key: id.optional(),
  unique: id.optional(),
  max_attempts: z.number().int().positive().optional(),
  delay_ms: ms.optional(),
  ends: z.enum(expectedEnds),
});
export type WantedJob = z.infer<typeof wantedJob>;

/**
 * What one of them got: its job, new or known before, or a refusal that leaves nothing behind. `unanswered`: it was asked
 * for before, and that try had no answer, so what it asked for may have been done since.
 */
const answered = z.object({
  nonce: id,
  job: id.optional(),
  created: z.boolean().optional(),
  refused: id.optional(),
  unanswered: z.boolean().optional(),
});

/** Which job an attempt is of. A local handler does not know its token. */
const attemptOf = z.object({ job: id, attempt: z.number().int().positive(), token: id.optional() });

const outcomes = <I extends z.ZodType, O extends z.ZodType>(invoke: I, ok: O) => ({
  invoke,
  ok,
  fail: z.object({ error: z.string().max(2_000) }),
  info: z.object({ error: z.string().max(2_000) }),
});
const act = z.object({ tenant: id, jobs: z.array(id).optional(), about: z.string().max(200).optional() });
const acted = z.object({ jobs: z.array(id).optional(), count: z.number().int().nonnegative().optional() });

/**
 * What the programs do, by name. `invoke` comes before, then one of: `ok`, it was done; `fail`, it certainly was not;
 * `info`, nobody knows. A process that dies leaves an `invoke` alone, which is read as `info`.
 */
export const moves = {
  /**
   * Jobs are submitted, in one request, one flow or one transaction of the caller (`row`: the nonce of what else it
   * writes). A `batch` is all or none.
   */
  submit: outcomes(
    z.object({
      via: id,
      batch: id.optional(),
      row: id.optional(),
      to: id.optional(),
      jobs: z.array(wantedJob).min(1).max(10_000),
    }),
    z.object({ answers: z.array(answered).max(10_000) }),
  ),
  /** A schedule is stored: from then on it fires every `every_ms`; its jobs' nonce is its name. */
  schedule: outcomes(
    z.object({
      name: id,
      tenant: id,
      queue: id,
      every_ms: ms,
      catch_up: z.enum(["one", "all"]).optional(),
      to: id.optional(),
    }),
    z.object({ name: id }),
  ),
  /** A handler runs. `threw` fails the attempt, `aborted` gives up at its signal. */
  handle: outcomes(
    attemptOf.extend({
      worker: id,
      tenant: id,
      queue: id,
      group: id.optional(),
      nonce: id.optional(),
      remote: z.boolean().optional(),
    }),
    z.object({ ended: z.enum(["returned", "threw", "aborted"]) }),
  ),
  /**
   * A remote worker asks for jobs; `to` is the API process it asked, `link` the way there. `library`: it runs all that it
   * is given, unlike one that works by hand. `token`: under which it asks.
   */
  lease: outcomes(
    z.object({
      worker: id,
      tenant: id,
      to: id,
      link: id.optional(),
      library: z.boolean().optional(),
      token: id.optional(),
    }),
    z.object({ jobs: z.array(attemptOf).max(10_000) }),
  ),
  /** A remote worker renews a lease. */
  renew: outcomes(z.object({ job: id, token: id }), z.object({})),
  /** A remote worker gives back what it may have been given under a token: no answer had come. */
  giveBack: outcomes(z.object({ token: id }), z.object({})),
  /** A worker says how its attempt ended. `refused` is a lost lease. */
  settle: outcomes(
    attemptOf.extend({
      worker: id,
      as: z.enum(["complete", "fail", "release", "heartbeat"]),
      to: id.optional(),
      link: id.optional(),
    }),
    z.object({ answer: z.enum(["applied", "refused"]) }),
  ),
  cancel: outcomes(act, acted),
  retry: outcomes(act, acted),
  replay: outcomes(act, acted),
  purge: outcomes(act, acted),
  /** A parked job is sent the signal it waits for. */
  signal: outcomes(act, acted),
  /** One tenant looks at what is another's: `ok` with what it saw, which should be nothing. */
  trespass: outcomes(act, z.object({ status: z.number().int(), seen: z.boolean() })),
  /** Limits of a queue from now on; null: none. `rate`: so many starts in so many ms. */
  limit: outcomes(
    z.object({
      tenant: id,
      queue: id,
      concurrency: z.number().int().nullable(),
      rate: z.object({ limit: z.number().int().positive(), period_ms: ms.positive() }).nullable().optional(),
    }),
    z.object({ queue: id }),
  ),
  pause: outcomes(z.object({ tenant: id, queue: id, paused: z.boolean() }), z.object({ queue: id })),
  /** A fault is at work from its `invoke` to its `ok`. `victims`: processes, servers or links (`from>to`) by name. */
  fault: outcomes(
    z.object({ fault: id, victims: z.array(id).min(1), signal: id.optional(), needs: z.array(id).optional() }),
    z.object({ note: z.string().max(500).optional() }),
  ),
  /** A process lives from its `invoke` to its `ok`; `victim` when the rig ended it. */
  process: outcomes(
    z.object({
      name: id,
      role: id,
      pid: z.number().int(),
      workers: z.array(id).optional(),
      uses: z.array(id).optional(),
    }),
    z.object({ code: z.number().int().nullable(), signal: id.nullable(), victim: z.boolean() }),
  ),
  /** The run: its settings, and what the clock showed (`wall_ms`) in a process whose clock nobody moved. */
  run: outcomes(
    z.object({
      seed: z.number().int(),
      minutes: z.number(),
      commit: id,
      lease_ms: ms,
      sweep_ms: ms,
      backoff_ms_max: ms,
      wall_ms: ms,
      /** False: commits don't wait for the standby. */
      synchronous: z.boolean().optional(),
    }),
    z.object({}),
  ),
  /** Faults and load stop at the start of `quiet`; the check begins at its end. */
  quiet: outcomes(z.object({}), z.object({})),
  /** Something measured that must stay below `bound`. */
  sample: outcomes(z.object({ of: id, name: id, value: z.number(), bound: z.number().optional() }), z.object({})),
} as const;

export type Moves = typeof moves;
export type Move = keyof Moves;
export type Kind = "invoke" | "ok" | "fail" | "info";
