import { enableCompileCache } from "node:module";

// Before anything else is loaded: the next start takes a fraction of the time.
enableCompileCache();
const { runMember } = await import("./member.ts");

await runMember(process.env);
