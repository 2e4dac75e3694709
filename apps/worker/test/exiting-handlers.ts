import { defineHandler } from "@atlasqueue/worker";
import { z } from "zod";

export const handlers = [
  defineHandler("exits-at-first", z.looseObject({}), (_payload, { job }) => {
    if (job.attempt === 1) process.kill(process.pid, "SIGKILL");
    return job.attempt;
  }),
];
