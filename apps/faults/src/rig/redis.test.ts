import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { eventually } from "@atlasqueue/harness/servers";
import { expect, test } from "vitest";
import { startRedisRig } from "./redis.ts";

test("a promoted replica takes writes, also after it was killed and started again", async () => {
  const folder = mkdtempSync(join(tmpdir(), "atlasqueue-faults-test-"));
  const rig = await startRedisRig({ folder, moved: () => {} });
  try {
    await rig.asAdmin((redis) => redis.set("before", "1"));
    await rig.promote();
    await rig.primary().kill("SIGKILL");
    await rig.primary().restart();
    await eventually(async () => expect(await rig.asAdmin((redis) => redis.set("after", "1"))).toBe("OK"));
  } finally {
    await rig.stop();
    rmSync(folder, { recursive: true, force: true });
  }
});
