// Run before the tests, as those of pages need a real browser. Silent when there is one; as root on Debian it installs
// one; otherwise it prints the command that does, and fails.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { chromiumInstallCommand, findChromium } from "./find-chromium.ts";

if (!findChromium()) {
  const canInstall = process.getuid?.() === 0 && existsSync("/etc/debian_version");
  if (canInstall) install();
  if (!findChromium()) {
    console.error(`The tests need Chromium or Chrome. Install it with:\n  ${chromiumInstallCommand()}`);
    process.exitCode = 1;
  }
}

function install(): void {
  console.log("No Chromium or Chrome on PATH: installing chromium with apt-get.");
  // A stale list names packages gone from the mirror; after a failed update it may still be good enough.
  aptGet("update");
  aptGet("install", "-y", "--no-install-recommends", "chromium");
}

function aptGet(...args: string[]): void {
  spawnSync("env", ["DEBIAN_FRONTEND=noninteractive", "apt-get", "-qq", ...args], { stdio: "inherit" });
}
