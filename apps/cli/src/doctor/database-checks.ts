import type { Deps } from "@atlasqueue/core/internal";
import {
  clockSkewMs,
  countDrift,
  findBrokenJobs,
  overdueEdges,
  readDueSummary,
  requireRights,
  schemaState,
  serverConnections,
} from "@atlasqueue/core/internal/tools";
import { duration } from "../output/plain.ts";
import { ok, skipped, wrong, type Check } from "./check.ts";

type Look = (deps: Deps) => Promise<Check>;

const skew_ms_max = 1_000;
/** A sweep comes each second or two; what has waited longer, no one sweeps. */
const sweep_ms_max = 15_000;
const counted_jobs_max = 200_000;
const edges_max = 20_000;

export const checkSchema: Look = async ({ database }) => {
  await requireRights(database);
  const { kind, applied, shipped, at, needs } = await schemaState(database);
  switch (kind) {
    case "current":
      return ok("schema", `the newest tables, in the schema ${database.schema.name}`);
    case "behind":
      return wrong("schema", `at migration ${at}, this version needs ${needs}; run \`atlasqueue migrate\``);
    case "missing":
      return wrong("schema", `the schema ${database.schema.name} has no AtlasQueue tables; run \`atlasqueue migrate\``);
    case "ahead":
      return wrong("schema", `the database is newer than this program (${applied} migrations, here ${shipped})`);
    default:
      return kind satisfies never;
  }
};

export const checkClock: Look = async (deps) => {
  const skew_ms = await clockSkewMs(deps);
  const detail = `the database's clock is ${Math.abs(Math.round(skew_ms))} ms ${skew_ms < 0 ? "behind" : "ahead of"} this machine's`;
  return Math.abs(skew_ms) <= skew_ms_max ? ok("clocks", detail) : wrong("clocks", `${detail}; does NTP run?`);
};

/** What a running sweep would have done long ago. */
export const checkSweep: Look = async (deps) => {
  const { due_in_ms, lease_check_in_ms } = await readDueSummary(deps);
  const late = ([what, in_ms]: [string, number | null]) =>
    in_ms !== null && in_ms < -sweep_ms_max ? [`${what} for ${duration(-in_ms)}`] : [];
  const left = [
    ...late(["jobs are due and not promoted", due_in_ms]),
    ...late(["leases have expired and are not reclaimed", lease_check_in_ms]),
  ];
  if (left.length === 0) return ok("sweep", "no lease is stale, no due job is left behind");
  return wrong("sweep", `${left.join("; ")}: is a worker or API process running?`);
};

/** Each sweep looks at overdue groups, so one seen by two looks is stuck. */
export const checkGroups: Look = async (deps) =>
  (await readDueSummary(deps)).any_overdue_groups
    ? wrong("groups", "groups wait for the sweep to start their next job: is a worker or API process running?")
    : ok("groups", "no group waits for the sweep");

export const checkFlows: Look = async (deps) => {
  const { count, sample } = await overdueEdges(deps, sweep_ms_max, edges_max);
  if (!sample) return ok("flows", "no job waits for one that has ended");
  return wrong(
    "flows",
    `${count} waits for jobs that have ended, such as that of ${sample.child} for ${sample.parent}: is a worker or API process running?`,
  );
};

export const checkCounts: Look = async (deps) => {
  const { jobs, places, drifted } = await countDrift(deps, counted_jobs_max);
  if (jobs > counted_jobs_max) return skipped("counts", `more than ${counted_jobs_max} jobs are too many to count`);
  const [first] = drifted;
  if (!first) return ok("counts", `Counts match (${jobs} jobs)`);
  const { tenant, queue, status, kept, real } = first;
  return wrong(
    "counts",
    `${places} don't match, such as: queue ${queue} of ${tenant} has ${real} ${status} jobs, not ${kept}`,
  );
};

export const checkJobs: Look = async (deps) => {
  const { jobs, broken } = await findBrokenJobs(deps, counted_jobs_max);
  if (jobs > counted_jobs_max) return skipped("jobs", `more than ${counted_jobs_max} jobs are too many to check`);
  const [first] = broken;
  if (!first) return ok("jobs", `no row of ${jobs} contradicts its status`);
  return wrong(
    "jobs",
    `rows contradict their status, such as that of ${first.id} (${first.check}): did another program change the table?`,
  );
};

/** All processes share the server's connections; without one, an API answers 503 and a worker takes no jobs. */
export const checkConnections: Look = async (deps) => {
  const { open, busy, ours, max } = await serverConnections(deps);
  const detail = `${open} of the server's ${max} are open, ${busy} of them busy; ${ours} are AtlasQueue's`;
  if (open < max) return ok("connections", detail);
  return wrong("connections", `${detail}: raise its max_connections, or lower DATABASE_CONNECTIONS_MAX`);
};
