import { readFaultsConfig } from "./config.ts";
import { run } from "./run.ts";

const config = readFaultsConfig(process.argv.slice(2));
const tell = (line: string) => void process.stderr.write(`${line}\n`);
const stopping = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"] as const)
  process.on(signal, () => {
    // The second time it ends at once, and takes what it has started with it.
    if (stopping.signal.aborted) process.exit(130);
    tell("stopping…");
    stopping.abort();
  });

tell(`what the programs say and the histories are in ${config.folder}`);
const { ok } = await run(config, tell, stopping.signal);
process.exit(stopping.signal.aborted ? 130 : ok ? 0 : 1);
