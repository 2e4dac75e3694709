import type { Moved } from "../audit/read-audit.ts";
import type { Line, LineOf } from "../history/line.ts";

/** A job as the table has it at the end; `why`: what an unfinished one waits for. */
export type Left = { job: string; status: string; why: string | null };

/**
 * As Jepsen's checkers read it. A numbered process does one thing at a time; one that never learned the outcome (`info`)
 * does nothing more. `node` is the program. `database` tells what it noted, and `nemesis` is the fault. Times are ns since
 * the start of the run.
 */
export type Operation = {
  process: number | "database" | "nemesis";
  type: "invoke" | "ok" | "fail" | "info";
  f: string;
  value: object;
  time: number;
  node?: string;
  error?: string | undefined;
};

/**
 * The history of a run as operations, oldest first: what the programs did, each move that the trigger noted, and at the end
 * each job that is `left`. Holds only what is under way. Throws if the history does not begin with the run.
 *
 * @example
 * for await (const operation of operations(readHistory(folder), readAudit(sql), left)) write(operation);
 */
export async function* operations(
  lines: Iterable<Line>,
  moves: AsyncIterable<Moved> | Iterable<Moved>,
  left: AsyncIterable<Left> | Iterable<Left>,
): AsyncGenerator<Operation> {
  const reading = lines[Symbol.iterator]();
  let next = reading.next();
  if (next.done || next.value.move !== "run") throw new Error("the first line of the history does not begin the run");
  const began = next.value as LineOf<"run", "invoke">;
  const told = teller();
  let time = 0;
  function* until(last: number) {
    for (; !next.done && next.value.at_ns - began.at_ns <= last; next = reading.next()) {
      time = next.value.at_ns - began.at_ns;
      yield* told(next.value, time);
    }
  }
  const noted = (f: string, value: object): Operation => ({ process: "database", type: "info", f, value, time });
  for await (const move of moves) {
    const at = Math.round((move.at_ms - began.wall_ms) * 1e6);
    yield* until(at);
    time = at;
    yield noted(nameOf(move), { ...move, token: move.token ?? move.old_token });
  }
  yield* until(Infinity);
  for await (const one of left) yield noted("left", one);
}

/** One that is `requeued` with its attempt counted was recovered, otherwise its worker gave it back. */
function nameOf({ was, status, dead_reason }: Moved): string {
  if (was === null) return "stored";
  if (status === null) return "removed";
  if (status === "running") return "leased";
  if (was !== "running") return "moved";
  if (status === "dead") return dead_reason === "lease_lost" ? "recovered" : "failed";
  return { succeeded: "completed", queued: "requeued", scheduled: "parked" }[status] ?? status;
}

type Asked = { process: number | "nemesis"; f: string; value: object; nonce?: string | undefined };
const names: Partial<Record<Line["move"], string>> = { submit: "enqueue", handle: "attempt" };

/** Gives each call a process that has nothing else to do, and each job of a submission a call. */
function teller() {
  const open = new Map<string, Asked[]>();
  const free: number[] = [];
  let processes = 0;
  return function* told(line: Line, time: number): Generator<Operation> {
    const { at_ns: _, process: node, op, is, move, ...rest } = line;
    const key = `${node} ${op}`;
    if (is === "invoke") {
      const jobs = line.move === "submit" && line.is === "invoke" ? line.jobs : [undefined];
      const begun = jobs.map((job): Asked => {
        const process = move === "fault" ? "nemesis" : (free.pop() ?? processes++);
        return { process, f: names[move] ?? move, value: { ...rest, jobs: undefined, ...job }, nonce: job?.nonce };
      });
      open.set(key, begun);
    }
    const asked = open.get(key) ?? [];
    if (is !== "invoke") open.delete(key);
    const answers = line.move === "submit" && line.is === "ok" ? line.answers : [];
    for (const { process, f, value, nonce } of asked) {
      const { refused, unanswered, ...answer } = answers.find((one) => one.nonce === nonce) ?? {};
      // A refusal says nothing of an earlier try that had no answer.
      const type = refused === undefined ? is : unanswered ? "info" : "fail";
      if (type !== "invoke" && type !== "info" && process !== "nemesis") free.push(process);
      const error = refused ?? ("error" in line ? line.error : undefined);
      const more = is !== "ok" || move === "submit" ? answer : rest;
      yield {
        process,
        type: process === "nemesis" ? "info" : type,
        f,
        value: { ...value, ...more },
        time,
        node,
        error,
      };
    }
  };
}
