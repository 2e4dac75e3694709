// @module-tag nightly
import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { dataFolder, mainFile, runStart, startEnv, succeeds } from "../../test/run-start.ts";
import { spawnProcess } from "@atlasqueue/harness";

/** A PATH with what the embedded PostgreSQL needs and no Redis. */
function pathWithoutRedis(folder: string): string {
  const bin = join(folder, "bin");
  mkdirSync(bin);
  for (const tool of ["sh", "chown", "cp", "ps"]) {
    const found = execFileSync("sh", ["-c", `command -v ${tool}`], { encoding: "utf8" }).trim();
    symlinkSync(found, join(bin, tool));
  }
  return bin;
}

test("without redis-server on PATH it says in-memory, and jobs run", async () => {
  const folder = dataFolder();
  onTestFinished(folder.remove);
  const started = await runStart({ ...startEnv(folder.path), PATH: pathWithoutRedis(folder.path) });
  expect(started.banner.join("\n")).toContain("using in-process notifications");
  const submitted = await spawnProcess(mainFile, {
    args: ["submit", "demo.echo", '{"n":1}', "--url", started.api_url, "--json"],
  });
  expect(await submitted.waitForExit()).toEqual({ code: 0, signal: null });
  const { job } = submitted.logs[0] as { job: { id: string } };
  await succeeds(started, job.id);
  started.process.kill("SIGTERM");
  expect(await started.process.waitForExit()).toEqual({ code: 0, signal: null });
});
