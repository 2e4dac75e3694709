import { readFaultsConfig } from "./config.ts";
import { report } from "./report/report.ts";
import { runMutants } from "./mutants/mutants.ts";
import { run } from "./run.ts";

const [command, ...rest] = process.argv.slice(2);
const mutants = command === "mutants" && rest.length === 0;
const tell = (line: string) => void process.stderr.write(`${line}\n`);
const stopping = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"] as const)
  process.on(signal, () => {
    // The second time it ends at once, and takes what it has started with it.
    if (stopping.signal.aborted) process.exit(130);
    tell("stopping…");
    stopping.abort();
  });

const begin = async () => {
  if (command === "report") return report(rest);
  if (mutants) return runMutants(tell, stopping.signal);
  const config = readFaultsConfig(process.argv.slice(2));
  tell(`what the programs say and the histories are in ${config.folder}`);
  return run(config, tell, stopping.signal);
};
const { ok } = await begin();
process.exit(stopping.signal.aborted ? 130 : ok ? 0 : 1);
