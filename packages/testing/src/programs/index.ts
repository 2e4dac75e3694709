/** What also runs outside of a test: nothing here loads vitest. */
export { pgBouncer, type PgBouncer } from "./pgbouncer.ts";
export { unpackFromDebian } from "./from-debian.ts";
export { findProgram, type ProgramName } from "./programs.ts";
export { startPrometheus, type Prometheus } from "./prometheus.ts";
