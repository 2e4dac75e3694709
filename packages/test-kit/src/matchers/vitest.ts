import { expect } from "vitest";
import { matchers, type QueueMatchers } from "./matchers.ts";

// Import it once, for example in a file of `setupFiles`.
expect.extend(matchers);

declare module "vitest" {
  interface Matchers<R extends void | Promise<void> = void | Promise<void>, T = unknown> extends QueueMatchers<R> {}
}
