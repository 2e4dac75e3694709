import { closeSync, writeSync } from "node:fs";
import { z } from "zod";
import { defineHandler, DoNotRetryError, type JobContext } from "../src/index.ts";

const any = z.looseObject({});
const isolate = { module: import.meta.url };

/** The numbers that a job waited for, and of how many. */
export async function sumParents(_payload: unknown, { parents, parentCounts }: JobContext) {
  const sum = Object.values(await parents()).reduce((total, { result }) => total + Number(result), 0);
  return { sum, succeeded: (await parentCounts()).succeeded };
}

/** Handlers that would take down a worker's own process. */
export const isolatedHandlers = [
  defineHandler(
    "spin",
    any,
    () => {
      for (;;);
    },
    { isolate, timeoutSeconds: 1 },
  ),
  defineHandler(
    "spawns",
    any,
    ({ n }, { spawn }) => {
      for (let at = 0; at < Number(n); at += 1) spawn({ type: "spawned", payload: { at }, queue: "nowhere" });
      return "spawned";
    },
    { isolate },
  ),
  defineHandler(
    "spawns-heavy",
    any,
    (_payload, { spawn }) => {
      for (;;) spawn({ type: "spawned", payload: { text: "x".repeat(250_000) }, queue: "nowhere" });
    },
    { isolate },
  ),
  // An outcome of its own making, in place of the one that is checked in its process.
  defineHandler(
    "forges",
    any,
    (_payload, { job }) => {
      const payload = `{"a":${"[".repeat(5_000)}${"]".repeat(5_000)}}`;
      const outcome = `{"kind":"succeeded","result":1,"spawned":{"children":[{"type":"x","payload":${payload}}],"dependants_wait":false}}`;
      for (let run = 0; run < 3; run += 1)
        writeSync(3, `{"run":${run},"said":{"kind":"outcome","outcome":${outcome}}}\n`);
      return new Promise(() => void job);
    },
    { isolate },
  ),
  defineHandler(
    "says-much",
    any,
    ({ lines }, { log }) => {
      for (let at = 0; at < Number(lines); at += 1) log(`row ${at}`);
      return "said";
    },
    { isolate },
  ),
  defineHandler("exit", any, () => process.exit(3), { isolate }),
  // Reported as a success, and gone before it could take another job.
  defineHandler("exit-afterwards", any, () => void setImmediate(() => process.exit(3)), { isolate }),
  defineHandler(
    "hog",
    any,
    () => {
      const hoard: string[][] = [];
      for (;;) hoard.push(Array.from({ length: 100_000 }, (_, at) => `${at}`));
    },
    { isolate },
  ),
  defineHandler(
    "stray",
    any,
    () => {
      setImmediate(() => {
        throw new TypeError("nobody catches this");
      });
      return new Promise(() => {});
    },
    { isolate },
  ),
  defineHandler("sum", z.object({ a: z.number() }), ({ a }, { job }) => ({ a: a + job.attempt, pid: process.pid }), {
    isolate,
  }),
  defineHandler(
    "refuse",
    any,
    () => {
      throw new DoNotRetryError("it cannot help");
    },
    { isolate },
  ),
  defineHandler(
    "logs-much",
    any,
    (_payload, { logger }) => {
      logger.warn({ text: "y".repeat(17 * 1024 * 1024) }, "much");
      return "logged";
    },
    { isolate },
  ),
  defineHandler(
    "heedful",
    any,
    (_payload, { signal }) => new Promise((resolve) => signal.addEventListener("abort", () => resolve("heard"))),
    { isolate },
  ),
  defineHandler(
    "parks",
    any,
    async (_payload, { step, waitFor, signal }) => {
      const by = await step("first", () => process.pid);
      const answer = await waitFor("go", { timeoutSeconds: 60 }).catch((error: Error) => {
        throw Object.assign(error, { message: `${error.message}; ${String(signal.aborted)}` });
      });
      return { by, answer, pid: process.pid, again: await step("twice", () => 1) };
    },
    { isolate },
  ),
  defineHandler("bad-step", any, (_payload, { step }) => step("a", () => new Map()), { isolate }),
  defineHandler("sum-isolated", any, sumParents, { isolate }),
  defineHandler(
    "tell-null",
    any,
    () => {
      // Where Node's own channel to a parent would be.
      process.send?.(null);
      process.send?.({ run: 1, kind: "outcome" });
      return "told";
    },
    { isolate },
  ),
  defineHandler(
    "tell-junk",
    any,
    (payload) => {
      for (const descriptor of [3, 4]) {
        try {
          writeSync(descriptor, String(payload["junk"]));
        } catch {
          // There is nothing at it.
        }
      }
      return new Promise(() => {});
    },
    { isolate },
  ),
  defineHandler(
    "hang-up",
    any,
    () => {
      closeSync(3);
      return new Promise(() => {});
    },
    { isolate, timeoutSeconds: 10 },
  ),
  defineHandler(
    "print",
    any,
    (_payload, { job }) => {
      console.log(`${job.id} says`);
      process.stdout.write('{"level":"error","event":"job_dead"}\nand ');
      process.stderr.write("oh dear\n");
      process.stdout.write(Buffer.from("more"));
      writeSync(1, "raw\n");
      return "printed";
    },
    { isolate },
  ),
  defineHandler(
    "talk",
    any,
    (_payload, context) => {
      context.progress(0.5);
      context.log("half of it");
      setTimeout(() => {
        for (;;);
      }, 100);
      return new Promise(() => {});
    },
    { isolate, timeoutSeconds: 2 },
  ),
];
