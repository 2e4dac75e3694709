import { writeFileSync } from "node:fs";
import { expect, onTestFinished, test, vi } from "vitest";
import { openFolder } from "../../test/folder.ts";
import { pidFile, stopRedisOrphan } from "./redis-orphan.ts";

test("another user's Redis that has a dead one's process id is no obstacle", async () => {
  const folder = openFolder();
  writeFileSync(pidFile(folder), "4711");
  const kill = vi.spyOn(process, "kill").mockImplementation(() => {
    throw Object.assign(new Error("kill EPERM"), { code: "EPERM" });
  });
  onTestFinished(() => kill.mockRestore());
  // Where it runs, only its own user may read.
  const factsOf = () => ({ started: "", command: "redis-server 127.0.0.1:6379", folder: undefined });
  await stopRedisOrphan(folder, factsOf);
  expect(kill.mock.calls).toEqual([[4711, 0]]);
});
