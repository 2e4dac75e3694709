import type { JobStatus } from "@atlasqueue/contract";
import type { System } from "../system.ts";
import type { Act, Known, World } from "./world.ts";

export type Move = { id: number; job_id: string; was: JobStatus | null; status: JobStatus; at_ms: number };
type Run = {
  id: number;
  job_id: string;
  attempt: number;
  started_ms: number;
  ended_ms: number | null;
  failed: boolean | null;
};
type Edge = { parent: string; child: string; failed: boolean };

export type Recorded = Known & {
  group_key: string | null;
  /** What its handler returned: which run it was. */
  result: { run: string } | null;
  moves: Move[];
  runs: Run[];
  edges: Edge[];
};

/** Everything that is known about a seed's jobs after it. Moves are in the order in which they were made. */
export type Record = {
  jobs: ReadonlyMap<string, Recorded>;
  acts: readonly Act[];
};

/** Tables of the test's own: what handlers did, and, by a trigger, every change of a job's status. */
export async function keepRecord({ sql }: System): Promise<void> {
  await sql.unsafe(`
    CREATE TABLE runs (id bigserial PRIMARY KEY, job_id uuid NOT NULL, attempt int NOT NULL,
                       started_at timestamptz NOT NULL DEFAULT clock_timestamp(), ended_at timestamptz, failed boolean);
    CREATE INDEX ON runs (job_id);
    CREATE TABLE moves (id bigserial PRIMARY KEY, job_id uuid NOT NULL, was text, status text NOT NULL,
                        at timestamptz NOT NULL DEFAULT clock_timestamp());
    CREATE FUNCTION record_move() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      INSERT INTO moves (job_id, was, status) VALUES (NEW.id, CASE WHEN TG_OP = 'UPDATE' THEN OLD.status END, NEW.status);
      RETURN NULL;
    END $$;
    CREATE TRIGGER record_job AFTER INSERT ON atlasqueue.jobs FOR EACH ROW EXECUTE FUNCTION record_move();
    CREATE TRIGGER record_move AFTER UPDATE OF status ON atlasqueue.jobs FOR EACH ROW WHEN (OLD.status <> NEW.status)
      EXECUTE FUNCTION record_move();`);
}

export const moveCount = async ({ system }: World) =>
  Number((await system.sql`SELECT coalesce(max(id), 0)::int AS n FROM moves`)[0]?.["n"]);

/** What is left to do: jobs under way, and notes of what else must happen. */
export async function leftToDo({ system, queue }: Pick<World, "system" | "queue">) {
  const [left] = await system.sql`
    SELECT (SELECT count(*)::int FROM atlasqueue.jobs WHERE queue = ${queue}
            AND status NOT IN ('blocked', 'succeeded', 'dead', 'cancelled')) AS jobs,
           (SELECT count(*)::int FROM atlasqueue.outbox) AS notes,
           (SELECT count(*)::int FROM atlasqueue.job_groups WHERE overdue_at IS NOT NULL) AS overdue`;
  return left ?? {};
}

export const isQuiet = async (world: World) => Object.values(await leftToDo(world)).every((count) => count === 0);

export async function readRecord({ system: { sql }, known, acts }: World): Promise<Record> {
  const ids = `{${[...known.keys()].join()}}`;
  const jobs = new Map<string, Recorded>(
    [...known.values()].map((one) => [
      one.id,
      { ...one, group_key: null, result: null, moves: [], runs: [], edges: [] },
    ]),
  );
  for (const { id, group_key, result } of await sql<Pick<Recorded, "id" | "group_key" | "result">[]>`
      SELECT id, group_key, result FROM atlasqueue.jobs WHERE id = ANY(${ids}::uuid[])`)
    Object.assign(jobs.get(id) ?? {}, { group_key, result });
  for (const move of await sql<Move[]>`
      SELECT id::int, job_id, was, status, 1000 * extract(epoch FROM at)::float8 AS at_ms
      FROM moves WHERE job_id = ANY(${ids}::uuid[]) ORDER BY id`)
    jobs.get(move.job_id)?.moves.push(move);
  for (const run of await sql<Run[]>`
      SELECT id::int, job_id, attempt, 1000 * extract(epoch FROM started_at)::float8 AS started_ms,
             1000 * extract(epoch FROM ended_at)::float8 AS ended_ms, failed
      FROM runs WHERE job_id = ANY(${ids}::uuid[]) ORDER BY id`)
    jobs.get(run.job_id)?.runs.push(run);
  for (const edge of await sql<Edge[]>`
      SELECT parent, child, failed FROM atlasqueue.flow_edges WHERE child = ANY(${ids}::uuid[])`)
    jobs.get(edge.child)?.edges.push(edge);
  return { jobs, acts };
}
