import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openFolder } from "../../test/folder.ts";
import { claim, ownerFile } from "./owner.ts";

test("a claim is refused while another is held, and granted once that is given up", () => {
  const folder = { dataDir: openFolder(), identity: undefined };
  const release = claim(folder, "the data");
  expect(() => claim(folder, "the data")).toThrow(`the data is in use by process ${process.pid}:`);
  release();
  expect(existsSync(join(folder.dataDir, ownerFile))).toBe(false);
  claim(folder, "the data")();
});

test("claims of dead processes, of reused ids, and unreadable ones count for nothing", () => {
  const folder = openFolder();
  const dead = spawnSync(process.execPath, ["-e", "0"]).pid;
  const stale = [
    { pid: dead, started: "1" },
    { pid: process.pid, started: "long ago" },
  ].map((owner) => JSON.stringify(owner));
  for (const content of [...stale, "", "{"]) {
    writeFileSync(join(folder, ownerFile), content);
    claim({ dataDir: folder, identity: undefined }, "the data")();
  }
  expect(readdirSync(folder)).toEqual([]);
});
