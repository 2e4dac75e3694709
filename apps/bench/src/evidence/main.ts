import { copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Command, InvalidArgumentError } from "@commander-js/extra-typings";
import { titles } from "../bench.ts";
import { CompareError } from "../compare/checkouts.ts";
import { publish } from "../report/publish.ts";
import { gatherEvidence } from "./evidence.ts";
import { evidenceSteps } from "./steps.ts";

const root = fileURLToPath(new URL("../../../..", import.meta.url));
const folder = fileURLToPath(new URL("../../evidence", import.meta.url));
const tell = (line: string) => void process.stderr.write(`${line}\n`);

const command = new Command("pnpm evidence")
  .description("Measure one commit: each scenario of the bench, then fault runs. A stopped run goes on where it was.")
  .argument("<commit>", "a branch, a tag or the id of a commit")
  .option("--seed <n,…>", "the seeds of the fault runs", wholeNumbers, [1, 2, 3, 4, 5])
  .option("--minutes <n>", "of load and faults for each seed", (text) => Number(text), 30)
  .option("--only <step,…>", "only these steps: scenarios, seed-1 …", (text) => text.split(","))
  .option("--pages", "write the figures into RESULTS.md and the pages that quote them", false)
  .option("--quick", "short measurements, to try the command", false)
  .option("--out <folder>", "keeps the figures, in a subfolder for the commit", folder)
  .parse();
const { seed: seeds, minutes, only, pages, quick, out } = command.opts();
const all = evidenceSteps({ seeds, minutes, quick });
const unknown = only?.find((name) => !all.some((step) => step.name === name));
if (unknown !== undefined)
  command.error(`error: --only: "${unknown}" is none of ${all.map(({ name }) => name).join(", ")}.`);
if (!(minutes > 0)) command.error("error: --minutes takes a number above 0.");

try {
  const steps = all.filter(({ name }) => only?.includes(name) ?? true);
  const { failed, kept, sha, whole } = await gatherEvidence(
    { commit: command.args[0] ?? "", steps, folder: out },
    tell,
  );
  if (failed.length > 0) {
    tell(`failed, and measured again by the same command: ${failed.join(", ")}`);
    process.exitCode = 1;
  }
  if (pages && whole) {
    const { texts, report } = publish(whole, sha.slice(0, 7), titles, (file) => readFileSync(join(root, file), "utf8"));
    for (const [file, text] of texts) writeFileSync(join(root, file), text);
    copyFileSync(join(kept, "bench.svg"), join(root, "apps/bench/RESULTS.svg"));
    for (const line of report) tell(line);
  }
} catch (error) {
  if (!(error instanceof CompareError)) throw error;
  tell(`error: ${error.message}`);
  process.exitCode = 1;
}

function wholeNumbers(text: string): number[] {
  const numbers = text.split(",").map(Number);
  if (text === "" || numbers.some((number) => !Number.isSafeInteger(number) || number < 0))
    throw new InvalidArgumentError("It takes whole numbers, separated by commas.");
  return [...new Set(numbers)];
}
