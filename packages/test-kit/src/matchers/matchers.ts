import type { JobDefinition } from "@atlasqueue/contract";
import type { TestJob } from "../store.ts";
import type { TestQueue } from "../test-queue.ts";

/** The parts of Vitest's and Jest's matcher context that are the same in both. */
type Context = {
  equals(a: unknown, b: unknown, testers?: never[]): boolean;
  utils: { subsetEquality: unknown };
};
type Type = string | Pick<JobDefinition, "type">;

const matcher = (did: string, fits: (job: TestJob) => boolean) =>
  function (this: Context, queue: TestQueue, type: Type, payload: object = {}) {
    const jobs = queue.submitted(type);
    const matches = (job: TestJob) => this.equals(job.payload, payload, [this.utils.subsetEquality as never]);
    const pass = jobs.some((job) => fits(job) && matches(job));
    const found = jobs.map((job) => `\n  ${job.status} ${JSON.stringify(job.payload)}`).join("") || " none";
    const wanted = `${pass ? "no" : "a"} job of the type ${typeof type === "string" ? type : type.type} to have ${did}`;
    return { pass, message: () => `expected ${wanted} with ${JSON.stringify(payload)}; jobs of this type:${found}` };
  };

/**
 * For `expect.extend`. `@atlasqueue/testing/vitest` and `@atlasqueue/testing/jest` do that when they are imported.
 *
 * @example
 * expect.extend(matchers);
 * expect(queue).toHaveSubmitted("email.send", { to: "ada@example.org" });
 */
export const matchers = {
  toHaveSubmitted: matcher("been submitted", () => true),
  toHaveSucceeded: matcher("succeeded", ({ status }) => status === "succeeded"),
};

/** What the matchers add to `expect(queue)`. */
export type QueueMatchers<R> = {
  /** A job of the type was submitted, or has succeeded, whose payload has at least these fields. */
  toHaveSubmitted(type: Type, payload?: object): R;
  toHaveSucceeded(type: Type, payload?: object): R;
};
