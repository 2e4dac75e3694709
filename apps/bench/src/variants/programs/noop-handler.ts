import { defineHandler } from "@atlasqueue/worker";
import { z } from "zod";

let handled = 0;
let tell = (_handled: number) => {};
const payload = z.object({ n: z.number(), text: z.string().optional() });
const done = () => {
  handled += 1;
  tell(handled);
};

/** Called with how many jobs the handlers are done with, after each. */
export function onHandled(listener: (handled: number) => void): void {
  tell = listener;
}

export const noop = defineHandler("noop", payload, done);

/** Fails the first time; with one attempt it is dead then. */
export const flaky = defineHandler("flaky", payload, (_payload, { job }) => {
  if (job.attempt > 1 || job.max_attempts === 1) done();
  if (job.attempt === 1) throw new Error("the first attempt fails");
});
