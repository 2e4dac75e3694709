import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { parseSettings, setting } from "./settings.ts";

let folder: string;
beforeAll(() => void (folder = mkdtempSync(join(tmpdir(), "atlasqueue-settings-"))));
afterAll(() => rmSync(folder, { recursive: true }));

const schema = z.object({ DATABASE_URL: setting.databaseUrl(), LOG_LEVEL: setting.logLevel().default("info") });
const url = "postgres://user:hidden@db/queue";

function file(content: string): string {
  const path = join(folder, "secret");
  writeFileSync(path, content);
  return path;
}

test("a secret may be in a file, with or without a trailing line break; the variable itself wins", () => {
  expect(parseSettings(schema, { DATABASE_URL_FILE: file(url) }).DATABASE_URL).toBe(url);
  const DATABASE_URL_FILE = file(`${url}\n`);
  expect(parseSettings(schema, { DATABASE_URL_FILE }).DATABASE_URL).toBe(url);
  expect(parseSettings(schema, { DATABASE_URL_FILE, DATABASE_URL: "" }).DATABASE_URL).toBe(url);
  const DATABASE_URL = "postgres://nearer/queue";
  expect(parseSettings(schema, { DATABASE_URL_FILE, DATABASE_URL }).DATABASE_URL).toBe(DATABASE_URL);
});

test("settings that are not secrets are not looked for in files", () => {
  const env = { DATABASE_URL: url, LOG_LEVEL_FILE: "/nowhere" };
  expect(parseSettings(schema, env).LOG_LEVEL).toBe("info");
});

test("a file that is missing, empty, too big or wrong is named, but its content is not", () => {
  const parse = (DATABASE_URL_FILE: string) => () => parseSettings(schema, { DATABASE_URL_FILE });
  expect(parse("/nowhere/secret")).toThrow(
    'DATABASE_URL_FILE must be the path of a file that holds DATABASE_URL; got "/nowhere/secret": ENOENT',
  );
  expect(parse(folder)).toThrow(": EISDIR");
  expect(parse(file("\n"))).toThrow(": it is empty");
  expect(parse(file("x".repeat(70_000)))).toThrow(": it is over 65536 bytes");
  expect(parse(file("hidden"))).toThrow("DATABASE_URL must be a URL such as postgres://user:password@host");
  expect(parse(file("hidden"))).not.toThrow("hidden");
});
