export { cliSettings, type Env } from "./config.ts";
export { createProgram } from "./program.ts";
export { seedDay } from "./seed/seed.ts";
export { startSystem, type System } from "./start/start.ts";
