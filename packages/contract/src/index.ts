export * from "./idempotency-key.ts";
export * from "./job.ts";
export * from "./json.ts";
export * from "./limits.ts";
export * from "./problem.ts";
export * from "./validate.ts";
