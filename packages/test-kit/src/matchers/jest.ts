import { matchers, type QueueMatchers } from "./matchers.ts";

// For a file of `setupFilesAfterEnv`: Jest has made `expect` by then.
(globalThis as unknown as { expect: { extend(all: object): void } }).expect.extend(matchers);

declare global {
  namespace jest {
    interface Matchers<R> extends QueueMatchers<R> {}
  }
}
