import { findProgram } from "@atlasqueue/harness";
import { chromium, type Browser } from "playwright-core";

const quiet = [
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** A real browser with an empty profile. `pnpm test` installs one where there is none. */
export async function startBrowser(): Promise<Browser> {
  const executablePath = findProgram("chromium");
  if (!executablePath) throw new Error("no Chromium or Chrome on PATH; `pnpm test` installs one");
  // Its sandbox refuses root.
  const sandbox = process.getuid?.() === 0 ? ["--no-sandbox"] : [];
  return chromium.launch({ executablePath, args: [...quiet, ...sandbox] });
}
