import { defineHandler } from "@atlasqueue/worker";
import { z } from "zod";

export const handlers = [
  defineHandler("blocks-at-first", z.looseObject({}), (_payload, { job }) => {
    if (job.attempt === 1) for (;;);
    return job.attempt;
  }),
];
