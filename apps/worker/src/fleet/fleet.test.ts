import { writeFile, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLogger } from "@atlasqueue/core";
import { expect, onTestFinished, test } from "vitest";
import { startFleet } from "./fleet.ts";

/** The system refuses a program's environment that is too long (E2BIG), and Node throws it at once, like ENOMEM. */
const refused = { LONG: "x".repeat(4_000_000) };

/** Ends at once; when its environment lets it stay, it reports that it started. */
async function program(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "fleet-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const file = join(folder, "member.mjs");
  const says = JSON.stringify({ member: "started", metrics_url: "http://127.0.0.1:1" });
  await writeFile(
    file,
    `import { writeSync } from "node:fs"; writeSync(3, ${JSON.stringify(`${says}\n`)}); process.exit(Number(process.env.CODE));`,
  );
  return file;
}

test("a process the system refuses to restart is tried again after a rest", async () => {
  let starts = 0;
  const fleet = startFleet({
    processes: 1,
    file: await program(),
    ends: true,
    env() {
      starts += 1;
      if (starts === 2) return refused;
      return { CODE: starts === 1 ? "1" : "0" };
    },
    stop_ms_max: 5_000,
    logger: createLogger("silent", "test"),
  });
  await expect(fleet.started).resolves.toEqual({ metrics_urls: ["http://127.0.0.1:1"] });
  expect(await fleet.finished).toBe(0);
  expect(starts).toBe(3);
}, 30_000);

test("a process the system refuses at the start makes the start fail", async () => {
  const fleet = startFleet({
    processes: 1,
    file: await program(),
    env: () => refused,
    stop_ms_max: 5_000,
    logger: createLogger("silent", "test"),
  });
  await expect(fleet.started).rejects.toThrow("E2BIG");
  await fleet.stop();
});
