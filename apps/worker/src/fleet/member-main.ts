import { enableCompileCache } from "node:module";

// Before anything else is loaded: the next start takes a fraction of the time.
enableCompileCache();
const { runOne } = await import("./member.ts");

await runOne(process.env);
