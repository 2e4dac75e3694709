import { closeSync, mkdirSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { pid } from "node:process";
import type { z } from "zod";
import type { Move, Moves } from "./moves.ts";

type Told<M extends Move, K extends keyof Moves[M]> = Moves[M][K] extends z.ZodType ? z.infer<Moves[M][K]> : never;

/** One thing a process does, from its `invoke` on. Exactly one of these ends it. */
export type Begun<M extends Move> = {
  ok: (told: Told<M, "ok">) => void;
  /** It certainly did not happen. */
  fail: (error: unknown) => void;
  /** Nobody knows whether it happened. */
  info: (error: unknown) => void;
};

export type History = {
  invoke: <M extends Move>(move: M, told: Told<M, "invoke">) => Begun<M>;
  close: () => void;
};

/**
 * Append to the history in `folder` as `process`. Each line is handed to the operating system before the call returns, so a
 * SIGKILL loses none; a process that starts again writes another file. A machine that loses power may lose some: then the run is void.
 *
 * @example
 * const history = openHistory(folder, "worker-1");
 * const submit = history.invoke("submit", { via: "http", jobs: [job] });
 * submit.ok({ answers: [{ nonce: job.nonce, job: id, created: true }] });
 */
export function openHistory(folder: string, process: string): History {
  mkdirSync(folder, { recursive: true });
  const file = openSync(join(folder, `${process}.${nowNs()}${extension}`), "ax");
  // A program of several processes has a history in each of them, all under its name.
  let ops = pid * ops_per_process_max;
  const write = (op: number, is: string, move: Move, told: object) =>
    void writeAll(file, `${JSON.stringify({ at_ns: nowNs(), process, op, is, move, ...told })}\n`);
  return {
    invoke: (move, told) => {
      const op = (ops += 1);
      write(op, "invoke", move, told as object);
      return {
        ok: (answer) => write(op, "ok", move, answer as object),
        fail: (error) => write(op, "fail", move, { error: String(error).slice(0, 2_000) }),
        info: (error) => write(op, "info", move, { error: String(error).slice(0, 2_000) }),
      };
    },
    close: () => closeSync(file),
  };
}

const ops_per_process_max = 1e9;

/** Of one incarnation of a process each. */
export const extension = ".history.ndjson";

/** CLOCK_MONOTONIC in ns: exact in a number for the first hundred days after the machine's start. */
export function nowNs(): number {
  return Number(process.hrtime.bigint());
}

/** A write may be cut short where the disk is full. */
function writeAll(file: number, line: string): void {
  const bytes = Buffer.from(line);
  for (let at = 0; at < bytes.length;) at += writeSync(file, bytes, at);
}
