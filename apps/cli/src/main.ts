#!/usr/bin/env node
import { enableCompileCache } from "node:module";

// Node caches what it compiled, so the next command starts in a fraction of the time.
enableCompileCache();
const { endWithReader } = await import("./output/output.ts");
const { createProgram } = await import("./program.ts");

endWithReader();
const words = process.argv.slice(2);
const program = await createProgram(process.env, words);
await program.parseAsync(words, { from: "user" });
