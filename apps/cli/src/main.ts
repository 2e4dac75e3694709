#!/usr/bin/env node
import { enableCompileCache } from "node:module";
import { constants } from "node:os";

const words = process.argv.slice(2);
/** A command that a signal has stopped, after it has finished. */
const serving = new Set(["start", "api", "worker"]);

// As long as nothing else listens for it. By default the first process of a container would never hear of it.
process.on("SIGTERM", () => {
  if (process.listenerCount("SIGTERM") === 1)
    process.exit(serving.has(words[0] ?? "") ? 0 : 128 + constants.signals.SIGTERM);
});

// Node caches what it compiled, so the next command starts in a fraction of the time.
enableCompileCache();
const { endWithReader } = await import("./output/output.ts");
const { createProgram } = await import("./program.ts");

endWithReader();
const program = await createProgram(process.env, words);
await program.parseAsync(words, { from: "user" });
