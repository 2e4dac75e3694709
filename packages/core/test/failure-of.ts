import { expect } from "vitest";

/** What something fails with that must fail. */
export const failureOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    (answer) => expect.unreachable(`it was answered: ${JSON.stringify(answer)}`),
    (error: unknown) => error,
  );
