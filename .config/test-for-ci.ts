import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/**
 * The whole suite, for `.ci/run`. When no more than six files fail, each of them runs once more, alone: a fault in the
 * code fails again, and so does the change. What passes then is a race, in the test or in the code; it is named at the
 * end, and has to be mended like any other fault. `pnpm test` itself never runs anything twice.
 */
const again_max = 6;

function failedFiles(args: readonly string[]): string[] | "none" {
  const report = join(mkdtempSync(join(tmpdir(), "atlasqueue-tests-")), "report.json");
  const reporters = ["--reporter=default", "--reporter=json", `--outputFile=${report}`];
  const { status } = spawnSync("pnpm", ["test", ...reporters, ...args], { stdio: "inherit" });
  if (status === 0) return "none";
  const { testResults }: { testResults: { name: string; status: string }[] } = JSON.parse(readFileSync(report, "utf8"));
  return testResults.filter((file) => file.status === "failed").map((file) => file.name);
}

const failed = failedFiles(process.argv.slice(2));
if (failed !== "none") {
  // Without a failed file it was something between the tests, such as an error that nobody caught.
  if (failed.length === 0 || failed.length > again_max) process.exit(1);
  if (failedFiles(failed) !== "none") process.exit(1);
  process.stdout.write(`\nFailed at first, and passed alone; each is a race to mend:\n  ${failed.join("\n  ")}\n`);
}
