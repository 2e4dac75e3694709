import { AtlasQueueError, type JobSubmission } from "@atlasqueue/client";
import { exitCodes, Trouble } from "../exit.ts";
import { plain } from "../output/plain.ts";
import { troubleOf } from "../remote/trouble.ts";
import { patientClient, type Target } from "../submit/post-job.ts";
import type { Found, Source } from "./source.ts";

type Schedule = Extract<Found, { kind: "schedule" }>;
type Left = { reason: string; count: number; ids: string[] };
export type Imported = {
  source: string;
  dry_run: boolean;
  /** By the state that they had at the source. */
  found: Record<string, number>;
  created: number;
  already_there: number;
  schedules: number;
  /** What stays at the source, by the reason, with the first ids. */
  left: Left[];
};
type Options = { source: Source; target: Target; dry_run: boolean; json: boolean; write: (text: string) => void };

const ids_max = 20;

/** Copies the jobs of another queue, prints what became of them, and resolves to the exit code. */
export async function importQueue({ source, target, dry_run, json, write }: Options): Promise<number> {
  const none = { found: {}, created: 0, already_there: 0, schedules: 0, left: [] };
  const result: Imported = { source: source.name, dry_run, ...none };
  const print = () => write(json ? `${JSON.stringify(result)}\n` : textOf(result));
  try {
    await (dry_run ? countAll(source, result) : copyAll(source, target, result));
  } catch (error) {
    if (error instanceof Trouble) throw error;
    const ofApi = error instanceof AtlasQueueError && troubleOf(error, target.url, target.token);
    const reason = ofApi || `${source.name} cannot be read: ${String(error)}`;
    print();
    throw new Trouble(`${reason}; run the command again`, { cause: error });
  } finally {
    await source.close();
  }
  print();
  return result.left.length > 0 ? exitCodes.failed : exitCodes.ok;
}

async function countAll(source: Source, result: Imported): Promise<void> {
  for await (const found of source.read()) noteFound(result, found);
}

async function copyAll(source: Source, target: Target, result: Imported): Promise<void> {
  const client = patientClient(target);
  const schedules: Schedule[] = [];
  /** Of the jobs without an answer. */
  const ids: string[] = [];
  async function* jobs(): AsyncGenerator<JobSubmission> {
    for await (const found of source.read()) {
      noteFound(result, found);
      if (found.kind === "schedule") schedules.push(found);
      if (found.kind !== "job") continue;
      ids.push(found.id);
      yield found.job;
    }
  }
  for await (const { error, ...stored } of client.submitStream(jobs())) {
    const id = ids.shift() ?? "";
    if (error) leave(result, id, troubleOf(error, target.url, target.token));
    else if ("outcome" in stored && stored.outcome === "created") result.created += 1;
    else result.already_there += 1;
  }
  for (const { id, schedule } of schedules)
    await client.schedules.put(schedule).then(
      () => (result.schedules += 1),
      (error: unknown) => {
        if (!(error instanceof AtlasQueueError) || error.status !== 422) throw error;
        leave(result, id, troubleOf(error, target.url, target.token));
      },
    );
}

function noteFound(result: Imported, found: Found): void {
  if (found.kind === "left") return leave(result, found.id, found.reason);
  const state = found.kind === "job" ? found.state : "scheduled";
  result.found[state] = (result.found[state] ?? 0) + 1;
}

function leave({ left }: Imported, id: string, reason: string): void {
  let one = left.find((other) => other.reason === reason);
  if (!one) left.push((one = { reason, count: 0, ids: [] }));
  one.count += 1;
  if (one.ids.length < ids_max) one.ids.push(id);
}

/** For people. */
function textOf({ source, dry_run, found, created, already_there, schedules, left }: Imported): string {
  const counts = Object.entries(found).map(([state, count]) => `${count} ${state}`);
  const done = `${created} jobs created, ${already_there} already there, ${schedules} schedules stored`;
  const lines = [
    `${source}: ${counts.join(", ") || "no jobs that wait"}`,
    dry_run ? "Dry run: nothing was imported." : done,
    ...left.map(({ reason, count, ids }) => {
      const more = count > ids.length ? ", …" : "";
      return `left there: ${count} (${ids.join(", ")}${more}): ${reason}`;
    }),
  ];
  return `${lines.map(plain).join("\n")}\n`;
}
