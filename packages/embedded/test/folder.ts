import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

/** A temporary folder any user may enter, removed after the test. mkdtemp's own mode lets only us in. */
export function openFolder(): string {
  const folder = closedFolder();
  chmodSync(folder, 0o755);
  return folder;
}

/** A temporary folder that only we may enter, removed after the test. */
export function closedFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "atlasqueue-embedded-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
