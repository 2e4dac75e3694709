import { fileURLToPath } from "node:url";
import { redisUrl, spawnProcess, testDatabase, uniqueKeys } from "@atlasqueue/harness";
import { checkPromises, nobody, whenQuiet, type Deaths } from "./checks.ts";
import { faultAt, type Action, type Fault } from "./faults.ts";
import { runsTable } from "./handlers.ts";
import { tellStory, until } from "./story.ts";
import { openWorld, type Pace, type Place } from "./world.ts";

const victim = fileURLToPath(new URL("victim.ts", import.meta.url));

/** Leases well beyond what a busy machine or a late answer takes. */
const patient: Pace = { lease_seconds: 10, long_ms: 0 };
/** Of a process that is to die: whoever goes on need not wait long for their ends. */
const brisk: Pace = { lease_seconds: 2, long_ms: 0 };
/** Leases are renewed only for jobs that run longer than a third of one. */
const renewing: Pace = { lease_seconds: 5, long_ms: 2_500 };

/**
 * Tell the story once with a fault at a point, and to its end by whoever is left, in a database of its own; then look
 * whether the promises hold. Throws when they do not, or when the point was not reached.
 *
 * @example
 * await runFault("settle/settle:after_commit", "kill");
 */
export async function runFault(point: string, action: Action): Promise<void> {
  const own = await testDatabase();
  try {
    await own.database.sql.unsafe(runsTable);
    const { jobsKey, dlqKey } = uniqueKeys();
    const place = { database_url: own.url, redis_url: redisUrl(), keys: { jobs: jobsKey, deadLetters: dlqKey } };
    const renews = point.startsWith("lease/extend");
    const pace = renews ? renewing : patient;
    const tellings: Map<string, string>[] = [];
    const dead: number[] = [];
    const die = async (at: string, its: Pace) => {
      const death = await dieAt(place, its, at);
      tellings.push(death.told);
      dead.push(death.pid);
    };
    if (action === "kill") await die(point, renews ? renewing : brisk);
    const deaths: Deaths =
      dead.length === 0 ? nobody : { of: (id) => id === "remote" || dead.some((pid) => id.includes(`-${pid}-`)) };
    const fault = action === "kill" ? undefined : faultAt(point, action);
    tellings.push(await tellWhole(place, pace, { fault, tellings, deaths }));
  } finally {
    await own.drop();
  }
}

type Before = { fault: Fault | undefined; tellings: ReadonlyMap<string, string>[]; deaths: Deaths };

/** Tell it in this process, and check what came of it all. */
async function tellWhole(place: Place, pace: Pace, { fault, tellings, deaths }: Before): Promise<Map<string, string>> {
  const told = new Map<string, string>();
  const world = openWorld(place, { ...pace, ...(fault && { reach: fault.reach }) });
  try {
    await tellStory(world, (key, id) => void told.set(key, id));
    if (fault) await until("the point to be reached", async () => fault.reached());
    await whenQuiet(world);
    await checkPromises(world, [...tellings, told], deaths);
    return told;
  } finally {
    await world.close();
  }
}

/** Tell it in a process of its own, which is killed at the point; what it was told by then, and which it was. */
async function dieAt(place: Place, pace: Pace, point: string): Promise<{ told: Map<string, string>; pid: number }> {
  const child = await spawnProcess(victim, { args: [JSON.stringify({ place, pace, point })] });
  const exit = await child.waitForExit(120_000);
  if (exit.signal !== "SIGKILL")
    throw new Error(`it was not killed, but ended with ${exit.code}:\n${child.errorLines.slice(-10).join("\n")}`);
  return { told: new Map(child.logs.map((line) => [String(line["key"]), String(line["id"])])), pid: child.pid };
}
