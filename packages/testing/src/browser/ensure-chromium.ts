// Run before the tests: those of pages look at them in a real browser. Silent when there is one; as root on Debian it
// installs one; otherwise it prints the command that does, and fails.
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
  // A stale list names packages that are gone from the mirror; a failed update may still leave a good enough one.
  aptGet("update");
  aptGet("install", "-y", "--no-install-recommends", "chromium");
}

function aptGet(...args: string[]): void {
  spawnSync("env", ["DEBIAN_FRONTEND=noninteractive", "apt-get", "-qq", ...args], { stdio: "inherit" });
}
