import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { openFolder } from "../../test/folder.ts";
import { installCommand, isDebian } from "./find-redis.ts";

const script = fileURLToPath(new URL("ensure-redis.ts", import.meta.url));
const canInstall = process.getuid?.() === 0 && isDebian();

function run(path: string) {
  return spawnSync(process.execPath, [script], { encoding: "utf8", env: { PATH: path } });
}

/** A PATH with a shell and no server; its apt-get records its arguments and may put a server there. */
function machine({ aptWorks }: { aptWorks: boolean }) {
  const bin = openFolder();
  for (const name of ["sh", "env"])
    symlinkSync(existsSync(`/bin/${name}`) ? `/bin/${name}` : `/usr/bin/${name}`, join(bin, name));
  const asked = join(bin, "asked");
  const put = aptWorks ? `printf '#!/bin/sh\\n' > ${bin}/redis-server; /bin/chmod +x ${bin}/redis-server` : "exit 100";
  const apt = `#!/bin/sh\necho "$DEBIAN_FRONTEND $*" >> ${asked}\n${put}\n`;
  writeFileSync(join(bin, "apt-get"), apt, { mode: 0o755 });
  return { bin, asked: () => (existsSync(asked) ? readFileSync(asked, "utf8").trim().split("\n") : []) };
}

test("with a server present nothing is printed", () => {
  const { bin } = machine({ aptWorks: true });
  writeFileSync(join(bin, "valkey-server"), "#!/bin/sh\n", { mode: 0o755 });
  expect(run(bin)).toMatchObject({ status: 0, stdout: "", stderr: "" });
});

test("without a server, root on Debian gets one and everyone else the command", () => {
  const { bin, asked } = machine({ aptWorks: true });
  const { status, stdout, stderr } = run(bin);
  if (canInstall) {
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    expect(stdout).toContain("installing redis-server with apt-get");
    expect(asked()).toEqual([
      "noninteractive -qq update",
      "noninteractive -qq install -y --no-install-recommends redis-server",
    ]);
  } else {
    expect({ status, asked: asked() }).toEqual({ status: 1, asked: [] });
    expect(stderr).toContain(installCommand());
  }
});

test("an installation that fails leaves the user with the command", () => {
  const { status, stderr } = run(machine({ aptWorks: false }).bin);
  expect(status).toBe(1);
  expect(stderr).toContain(`Install it with:\n  ${installCommand()}`);
});

test("the command is this platform's", () => {
  expect(installCommand("darwin", false)).toBe("brew install redis");
  expect(installCommand("linux", true)).toBe("sudo apt-get install -y redis-server");
  expect(installCommand("linux", false)).toMatch(/^sudo dnf install -y redis/);
});
