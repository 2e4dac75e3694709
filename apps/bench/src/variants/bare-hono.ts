import { startProgram } from "./programs/start-program.ts";
import type { Variant } from "./variant.ts";

/** What HTTP alone costs: Hono on Node's server, which reads the body and answers. No database, no checks. */
export const bareHono: Variant = {
  name: "bare-hono",
  title: "bare Hono",
  kind: "bare",
  store: "none",
  share: 1,
  open: () => Promise.reject(new Error("bare Hono is not a queue: it can only serve")),
  serve: () => startProgram<{ url: string }>(new URL("./programs/bare-hono.ts", import.meta.url)),
};
