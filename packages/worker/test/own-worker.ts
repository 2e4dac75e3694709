import { createWorker, defineHandler } from "@atlasqueue/worker";
import { z } from "zod";

// A program with a worker of its own, for create-worker.test.ts: it runs one job, stops, and has nothing left to do.

const [databaseUrl = "", redisUrl, jobs = "", deadLetters = ""] = process.argv.slice(2);
const done = Promise.withResolvers<void>();
const last = defineHandler("last", z.looseObject({}), () => done.resolve());
const worker = createWorker({ databaseUrl, redisUrl, keys: { jobs, deadLetters }, handlers: [last] });
await done.promise;
await worker.stop();
