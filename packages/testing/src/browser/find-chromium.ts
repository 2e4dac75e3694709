import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";

const names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"];
const onMac = "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome";

/**
 * The path of a Chromium or Chrome on this machine, for the tests that look at a page; undefined when there is none.
 *
 * @example
 * const executablePath = findChromium();
 */
export function findChromium(): string | undefined {
  const script = names.map((name) => `command -v ${name}`).join(" || ");
  const { stdout } = spawnSync("sh", ["-c", script], { encoding: "utf8" });
  return stdout?.trim() || (existsSync(onMac) ? onMac : undefined);
}

/** The one command that installs one on this machine. */
export function chromiumInstallCommand(platform: NodeJS.Platform = process.platform): string {
  if (platform === "darwin") return "brew install --cask google-chrome";
  return existsSync("/etc/debian_version") ? "sudo apt-get install -y chromium" : "sudo dnf install -y chromium";
}
