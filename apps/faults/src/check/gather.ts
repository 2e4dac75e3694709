import type { Moved } from "../audit/read-audit.ts";
import type { Final } from "../audit/read-final.ts";
import type { Line, LineOf } from "../history/line.ts";
import type { Kind, Move } from "../history/moves.ts";
import type { Facts, Known, Story } from "./facts.ts";

type Call = { invoke: LineOf<Move, "invoke">; end: LineOf<Move, Exclude<Kind, "invoke">> | undefined };
type CallOf<M extends Move> = {
  invoke: LineOf<M, "invoke">;
  ok: LineOf<M, "ok"> | undefined;
  error: string | undefined;
  known: Known;
  from_ms: number;
  to_ms: number;
  /** When its caller knew, or gave up. */
  ended_ms: number;
};

/**
 * Put lines, moves and what is left together. Throws when the history says nothing of the run itself.
 *
 * @example
 * const facts = await gather(readHistory(folder), readAudit(sql), await readFinal(sql, dead_list));
 */
export async function gather(
  lines: Iterable<Line>,
  moves: AsyncIterable<Moved> | Iterable<Moved>,
  final: Final,
): Promise<Facts> {
  const calls = pair(lines);
  const [run] = calls.get("run") ?? [];
  if (!run) throw new Error("the history has no line that begins the run");
  const settings = run.invoke as LineOf<"run", "invoke">;
  const ahead_ms = settings.wall_ms - settings.at_ns / 1e6;
  const of = <M extends Move>(move: M): CallOf<M>[] => (calls.get(move) ?? []).map((call) => timed<M>(call, ahead_ms));

  const lives = of("process").map(({ invoke, ok, from_ms, to_ms }) => ({
    name: invoke.name,
    role: invoke.role,
    victim: ok?.victim ?? true,
    code: ok?.code ?? null,
    signal: ok?.signal ?? null,
    from_ms,
    to_ms,
  }));
  const deathOf = (process: string, at_ms: number) =>
    lives.find(({ name, from_ms, to_ms }) => name === process && from_ms <= at_ms && at_ms <= to_ms)?.to_ms ?? Infinity;

  const stories = new Map<string, Story>();
  const storyOf = (id: string): Story => {
    const known = stories.get(id);
    if (known) return known;
    const story: Story = { id, moves: [], runs: [] };
    stories.set(id, story);
    return story;
  };
  for await (const move of moves) storyOf(move.job).moves.push(move);
  for (const { invoke, ok, from_ms, to_ms } of of("handle")) {
    const { process, job, attempt, worker, remote = false } = invoke;
    const end_ms = ok ? to_ms : deathOf(process, from_ms);
    const ended = ok?.ended ?? "unknown";
    storyOf(job).runs.push({ process, job, attempt, worker, remote, ended, from_ms, to_ms: end_ms });
  }
  const span = <T extends { from_ms: number; to_ms: number }>({ from_ms, to_ms }: T) => ({ from_ms, to_ms });
  /** Until its caller knew, gave up or died. */
  const waited = ({ invoke, from_ms, ended_ms }: Pick<CallOf<Move>, "invoke" | "from_ms" | "ended_ms">) => ({
    from_ms,
    to_ms: Math.min(ended_ms, deathOf(invoke.process, from_ms)),
  });
  const quiet = of("quiet").at(-1);
  const actsOf = (act: "cancel" | "retry" | "replay" | "purge") =>
    of(act).map((call) => ({ act, jobs: call.invoke.jobs, known: call.known, ...span(call) }));

  return {
    settings,
    quiet: quiet && span(quiet),
    stories,
    lives,
    final,
    submits: of("submit").map((call) => ({
      via: call.invoke.via,
      batch: call.invoke.batch,
      row: call.invoke.row,
      jobs: call.invoke.jobs,
      answers: new Map(call.ok?.answers.map((answer) => [answer.nonce, answer])),
      known: call.known,
      ...span(call),
    })),
    settles: of("settle").map((call) => {
      const { job, token, attempt, as } = call.invoke;
      const { process } = call.invoke;
      return { process, job, token, attempt, as, answer: call.ok?.answer, known: call.known, ...span(call) };
    }),
    leaseCalls: of("lease").map((call) => ({
      worker: call.invoke.worker,
      by_hand: call.invoke.library !== true,
      known: call.known,
      asked_under: call.invoke.token,
      tokens: new Set(call.ok?.jobs.flatMap(({ token }) => token ?? [])),
      ...waited(call),
    })),
    givenBack: of("giveBack").map((call) => ({ token: call.invoke.token, known: call.known, ...waited(call) })),
    renewals: of("renew").map((call) => ({
      job: call.invoke.job,
      token: call.invoke.token,
      known: call.known,
      ...waited(call),
    })),
    acts: (["cancel", "retry", "replay", "purge"] as const).flatMap(actsOf),
    faults: of("fault").map((call) => ({
      fault: call.invoke.fault,
      victims: call.invoke.victims,
      signal: call.invoke.signal,
      played: call.known === "ok",
      note: call.ok?.note,
      ...span(call),
    })),
    limits: of("limit").map((call) => {
      const { tenant, queue, concurrency, rate = null } = call.invoke;
      return { tenant, queue, concurrency, rate, known: call.known, ...span(call) };
    }),
    schedules: of("schedule").map((call) => {
      const { name, tenant, every_ms, catch_up } = call.invoke;
      return { name, tenant, every_ms, catch_up, known: call.known, ...span(call) };
    }),
    trespasses: of("trespass").map((call) => {
      const { tenant, jobs = [], about = "" } = call.invoke;
      return { tenant, jobs, about, seen: call.ok?.seen ?? false, ...span(call) };
    }),
    samples: of("sample").map(({ invoke, from_ms }) => {
      const { name, value, bound } = invoke;
      return { at_ms: from_ms, of: invoke.of, name, value, bound };
    }),
  };
}

/** Each call with its end, if it has one; a process that dies leaves some without. */
function pair(lines: Iterable<Line>): Map<Move, Call[]> {
  const calls = new Map<Move, Call[]>();
  const open = new Map<string, Call>();
  for (const line of lines) {
    const key = `${line.process} ${line.op}`;
    if (line.is === "invoke") {
      const call: Call = { invoke: line as Call["invoke"], end: undefined };
      open.set(key, call);
      const known = calls.get(line.move);
      if (known) known.push(call);
      else calls.set(line.move, [call]);
    } else {
      const call = open.get(key);
      // A process counts from 1 again when it starts again.
      if (call?.invoke.move === line.move) call.end = line as NonNullable<Call["end"]>;
      open.delete(key);
    }
  }
  return calls;
}

function timed<M extends Move>({ invoke, end }: Call, ahead_ms: number): CallOf<M> {
  const known: Known = end?.is ?? "info";
  return {
    invoke: invoke as LineOf<M, "invoke">,
    ok: end?.is === "ok" ? (end as LineOf<M, "ok">) : undefined,
    error: end && "error" in end ? end.error : undefined,
    known,
    from_ms: invoke.at_ns / 1e6 + ahead_ms,
    // What nobody heard the end of may still be under way.
    to_ms: known !== "info" && end ? end.at_ns / 1e6 + ahead_ms : Infinity,
    ended_ms: end ? end.at_ns / 1e6 + ahead_ms : Infinity,
  };
}
