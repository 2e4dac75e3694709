import { execFile } from "node:child_process";
import { createWriteStream } from "node:fs";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { fileURLToPath } from "node:url";
import type { Sql } from "postgres";
import { readAudit } from "../audit/read-audit.ts";
import { readFinal } from "../audit/read-final.ts";
import { readHistory } from "../history/read-history.ts";
import { operations, type Left, type Operation } from "./operations.ts";

const judge = fileURLToPath(new URL("../../judge/judge.py", import.meta.url));
const judge_ms_max = 120_000;
const rows_at_once = 5_000;

/**
 * Writes a run's operations to `file`, and has them judged by a program that shares nothing with our check. Resolves with what
 * it objects to, line by line: nothing if the run is good.
 *
 * @example
 * const objections = await secondOpinion(historyFolder, sql, join(folder, "operations.jsonl"));
 */
export async function secondOpinion(history: string, sql: Sql, file: string): Promise<string[]> {
  await writeOperations(operations(readHistory(history), readAudit(sql), leftIn(sql)), file);
  return judgeOperations(file);
}

/** An operation a line, without what is null. */
export async function writeOperations(all: AsyncIterable<Operation>, file: string): Promise<void> {
  const texts = async function* () {
    for await (const one of all) yield `${JSON.stringify(one, (_, value: unknown) => value ?? undefined)}\n`;
  };
  await pipeline(Readable.from(texts()), createWriteStream(file));
}

/** Throws if Python is missing, or if the file is no history. */
export function judgeOperations(file: string): Promise<string[]> {
  return new Promise((resolve, reject) => {
    execFile("python3", [judge, file], { timeout: judge_ms_max }, (error, stdout, stderr) => {
      if (error === null) resolve([]);
      else if (error.code === 1 && stderr === "") resolve(stdout.trim().split("\n"));
      else reject(new Error(`python3 gave no second opinion: ${stderr.trim() || error.message}`, { cause: error }));
    });
  });
}

/** Which rules the objections are about. */
export const rulesOf = (objections: readonly string[]): string[] =>
  objections.flatMap((line) => /^([a-z ]+): \d+$/.exec(line)?.[1] ?? []);

async function* leftIn(sql: Sql): AsyncGenerator<Left> {
  const reasons = new Map((await readFinal(sql)).open.map(({ id, why }) => [id, why]));
  const pages = sql<{ job: string; status: string }[]>`SELECT id AS job, status FROM atlasqueue.jobs`;
  for await (const page of pages.cursor(rows_at_once))
    for (const { job, status } of page) yield { job, status, why: reasons.get(job) ?? null };
}
