import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, expect, test } from "vitest";
import { installCommand } from "./programs.ts";

const script = fileURLToPath(new URL("ensure.ts", import.meta.url));
const canInstall = process.getuid?.() === 0 && existsSync("/etc/debian_version");

let bin = "";
afterEach(() => rmSync(bin, { recursive: true, force: true }));

/** A PATH with a shell, and an apt-get that records its arguments and puts a browser there, or fails. */
function machine(aptGet: "works" | "fails"): string {
  bin = mkdtempSync(join(tmpdir(), "ensure-programs-"));
  for (const name of ["sh", "env"])
    symlinkSync(existsSync(`/bin/${name}`) ? `/bin/${name}` : `/usr/bin/${name}`, join(bin, name));
  const does = aptGet === "works" ? `echo > ${bin}/chromium; /bin/chmod +x ${bin}/chromium` : "exit 100";
  program("apt-get", `echo "$DEBIAN_FRONTEND $*" >> ${bin}/asked\n${does}`);
  return bin;
}

function program(name: string, does: string): void {
  writeFileSync(join(bin, name), `#!/bin/sh\n${does}\n`);
  chmodSync(join(bin, name), 0o755);
}

const run = (path: string, ...names: string[]) =>
  spawnSync(process.execPath, [script, ...names], { encoding: "utf8", env: { PATH: path } });

test.each(["chromium", "google-chrome"])("with %s present nothing is printed", (name) => {
  const path = machine("fails");
  program(name, "");
  expect(run(path, "chromium")).toMatchObject({ status: 0, stdout: "", stderr: "" });
});

test.runIf(canInstall)("without a browser, root on Debian gets one", () => {
  const { status, stdout, stderr } = run(machine("works"), "chromium");
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  expect(stdout).toContain("installing chromium-headless-shell with apt-get");
  expect(readFileSync(join(bin, "asked"), "utf8").trim().split("\n")).toEqual([
    "noninteractive -qq update",
    "noninteractive -qq install -y --no-install-recommends chromium-headless-shell",
  ]);
});

test.runIf(process.platform === "linux")("where none can be installed, the command to install one is printed", () => {
  const { status, stderr } = run(machine("fails"), "chromium");
  expect(status).toBe(1);
  expect(stderr).toContain(`Install with:\n  ${installCommand(["chromium"])}`);
});

test("what nobody asks for is not looked for, and a name it does not know is refused", () => {
  expect(run(machine("fails"))).toMatchObject({ status: 0, stdout: "", stderr: "" });
  const { status, stderr } = run(machine("fails"), "netscape");
  expect(status).toBe(1);
  expect(stderr).toContain('"netscape" is none of chromium, pgbouncer');
});
