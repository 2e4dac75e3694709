import { read, signal } from "./signal.ts";
import { park, store } from "./work.ts";

/** What handlers have done and wait for: for workers under a lease, and for those who send signals. */
export const stepRoutes = [store, park, signal, read];
