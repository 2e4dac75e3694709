import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/**
 * Runs one of our test scripts for `.ci/run`. If at most six files fail, each runs once more, alone: a fault in the code
 * fails again, and so does the change. A file that passes then has a race, in the test or in the code. The script names
 * it at the end, and it must be mended like any other fault. `pnpm test` itself runs nothing twice.
 */
const again_max = 6;
const [script = "test", ...args] = process.argv.slice(2);

function failedFiles(files: readonly string[]): string[] | "none" {
  const report = join(mkdtempSync(join(tmpdir(), "atlasqueue-tests-")), "report.json");
  const reporters = ["--reporter=default", "--reporter=json", `--outputFile=${report}`];
  const { status } = spawnSync("pnpm", [script, ...reporters, ...args, ...files], { stdio: "inherit" });
  if (status === 0) return "none";
  const { testResults }: { testResults: { name: string; status: string }[] } = JSON.parse(readFileSync(report, "utf8"));
  return testResults.filter((file) => file.status === "failed").map((file) => file.name);
}

const failed = failedFiles([]);
if (failed !== "none") {
  // Without a failed file it was something between the tests, such as an error that nobody caught.
  if (failed.length === 0 || failed.length > again_max) process.exit(1);
  if (failed.some((file) => failedFiles([file]) !== "none")) process.exit(1);
  process.stdout.write(`\nFailed at first, and passed alone; each is a race to mend:\n  ${failed.join("\n  ")}\n`);
}
