type Known = { id: string; token: string };
type Lease = { job?: { id: string }; lease_token?: string };
/** What an answer may say, on either surface. */
type Told = Lease & {
  id?: unknown;
  job_id?: unknown;
  status?: unknown;
  hint?: unknown;
  filter?: unknown;
  jobs?: Lease[];
};

const nobody: Known = { id: "00000000-0000-0000-0000-000000000000", token: "00000000-0000-0000-0000-000000000000" };

/**
 * The ids and lease tokens that answers had, so that requests meet jobs that exist and leases that hold: the last two
 * leases are 0 and 1, the last two jobs that were submitted 2 and 3.
 *
 * @example
 * known.learn(await response.json());
 * known.fill("/v1/jobs/known-id-2"); // "/v1/jobs/01920000-…"
 */
export function knownJobs() {
  let leases = [nobody, nobody];
  let submitted = [nobody, nobody];
  let made = nobody.id;
  let replay = nobody.id;
  return {
    learn(answer: unknown): void {
      const told = (answer ?? {}) as Told;
      const { status, hint, filter, jobs } = told;
      // OpenQueue has a name of its own for an id, and leases one job at a time.
      const id = told.id ?? told.job_id;
      const held = Array.isArray(jobs) ? jobs : [told];
      // A token of the API's own.
      if (typeof id === "string" && typeof hint === "string") made = id;
      if (typeof id === "string" && typeof filter === "object") replay = id;
      if (typeof id === "string" && status === "queued" && submitted[0]?.id !== id)
        submitted = [{ id, token: nobody.token }, ...submitted.slice(0, 1)];
      for (const { job, lease_token } of held)
        if (job && lease_token) leases = [{ id: job.id, token: lease_token }, ...leases.slice(0, 1)];
    },
    fill: (text: string): string =>
      text
        .replace(/(?<=^\/v1\/tokens\/)known-id-\d/, made)
        .replace(/(?<=^\/v1\/dlq\/replays\/)known-id-\d/, replay)
        .replaceAll(/known-(id|token)-(\d)/g, (_all, what: "id" | "token", at: string) => {
          return ([...leases, ...submitted][Number(at)] ?? nobody)[what];
        }),
  };
}
