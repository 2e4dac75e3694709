import type { Moved } from "../src/audit/read-audit.ts";
import type { Final } from "../src/audit/read-final.ts";
import type { Facts } from "../src/check/facts.ts";
import { gather } from "../src/check/gather.ts";
import { parseLine, type Line, type LineOf } from "../src/history/line.ts";
import type { Move } from "../src/history/moves.ts";

type Told<M extends Move, K extends "invoke" | "ok"> = Omit<LineOf<M, K>, "at_ns" | "process" | "op" | "is" | "move">;
type Wanted = LineOf<"submit", "invoke">["jobs"][number];
type End<M extends Move> = Told<M, "ok"> | "fail" | "info" | "dies";

/** A history and an audit made by hand, a step each ms, from which facts are gathered as from real ones. */
export function madeUpRun({ synchronous = true } = {}) {
  const lines: Line[] = [];
  const moves: Moved[] = [];
  const final: Final = { open: [], keys: [], dead_list: [], rows: [] };
  let now_ms = 0;
  let ops = 0;
  const line = (told: object) => void lines.push(parseLine(JSON.stringify({ at_ns: now_ms * 1e6, ...told })));
  const last = (job: string) => moves.findLast((one) => one.job === job);

  const made = {
    lines,
    moves,
    final,
    get now_ms() {
      return now_ms;
    },
    pass(ms: number) {
      now_ms += ms;
      return made;
    },
    /** Something a process does; it ends after `meanwhile` has happened, and a ms later. */
    call<M extends Move>(
      move: M,
      invoke: Told<M, "invoke">,
      end: End<M>,
      { process = "one", meanwhile = () => {} } = {},
    ) {
      const op = (ops += 1);
      now_ms += 1;
      line({ process, op, is: "invoke", move, ...(invoke as object) });
      meanwhile();
      now_ms += 1;
      if (end === "fail" || end === "info") line({ process, op, is: end, move, error: "Error: no" });
      else if (end !== "dies") line({ process, op, is: "ok", move, ...(end as object) });
      return made;
    },
    /** A move of a job from the status it has. */
    move(job: string, status: string | null, more: Partial<Moved> = {}) {
      const before = last(job);
      const attempts = (before?.attempts ?? 0) + (status === "running" ? 1 : 0);
      const token = status === "running" ? `${job}-token-${moves.length}` : null;
      now_ms += 1;
      moves.push({
        seq: moves.length,
        at_ms: now_ms,
        asked_ms: now_ms,
        transaction: String(moves.length),
        job,
        tenant: before?.tenant ?? "a",
        queue: before?.queue ?? "q",
        group: before?.group ?? null,
        nonce: null,
        was: before?.status ?? null,
        status,
        attempts,
        max_attempts: 3,
        old_token: before?.token ?? null,
        token,
        worker: "worker-1",
        lease_left_ms: before?.status === "running" ? 1_000 : null,
        error: null,
        dead_reason: null,
        done_by_attempt: null,
        ...more,
      });
      return made;
    },
    /** One job is submitted, acknowledged and stored, as `job-NONCE`. */
    submit(
      nonce: string,
      more: Partial<Wanted> & { via?: string; row?: string; batch?: string } = {},
      stored: Partial<Moved> = {},
    ) {
      const { via = "http", row, batch, ...wanted } = more;
      const job = `job-${nonce}`;
      const jobs: Wanted[] = [{ nonce, kind: "plain", tenant: "a", queue: "q", ends: "any", ...wanted }];
      const said = { via, jobs, ...(row && { row }), ...(batch && { batch }) };
      const store = () => void made.move(job, "queued", { nonce, group: wanted.group ?? null, ...stored });
      return made.call("submit", said, { answers: [{ nonce, job, created: true }] }, { meanwhile: store });
    },
    /** A handler runs for the attempt that the job is in now. */
    handle(nonce: string, end: End<"handle"> = { ended: "returned" }, meanwhile = () => {}) {
      const job = `job-${nonce}`;
      const { attempts = 1, tenant = "a", queue = "q" } = last(job) ?? {};
      const told = { job, attempt: Math.max(1, attempts), worker: "worker-1", tenant, queue };
      return made.call("handle", told, end, { process: "worker-1", meanwhile });
    },
    /** Claimed, handled and succeeded. */
    work(nonce: string) {
      made.move(`job-${nonce}`, "running").handle(nonce);
      return made.move(`job-${nonce}`, "succeeded", { done_by_attempt: last(`job-${nonce}`)?.attempts ?? 1 });
    },
    /** The lease ends, and the sweep takes the job back. */
    lose(nonce: string, more: Partial<Moved> = {}) {
      return made.move(`job-${nonce}`, "queued", { lease_left_ms: -500, ...more });
    },
    fault(fault: string, victims: string[], meanwhile = () => {}) {
      return made.call("fault", { fault, victims }, {}, { process: "rig", meanwhile });
    },
    facts(): Promise<Facts> {
      made.call("quiet", {}, {}, { process: "rig" });
      return gather(lines, moves, final);
    },
  };
  line({ process: "rig", op: 0, is: "invoke", move: "run", ...settings, synchronous });
  line({ process: "rig", op: 0, is: "invoke", move: "process", name: "worker-1", role: "worker", pid: 1 });
  return made;
}

export type MadeUpRun = ReturnType<typeof madeUpRun>;

const settings = {
  seed: 1,
  minutes: 1,
  commit: "made-up",
  lease_ms: 3_000,
  sweep_ms: 1_000,
  backoff_ms_max: 2_000,
  wall_ms: 0,
};
