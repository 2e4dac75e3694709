import { Writable } from "node:stream";
import { expect, test } from "vitest";
import { createLogger } from "./log.ts";

test("characters that act on a terminal or turn text around are escaped in log lines, and read back as they were", () => {
  let line = "";
  const logger = createLogger("info", "test", new Writable({ write: (chunk, _, done) => ((line += chunk), done()) }));
  const given = "a\u009bb\u202ec\u2028d\u007fe\u2066f\u001bg\nhé";
  logger.info({ event: "test", given }, given);
  for (const raw of "\u009b\u202e\u2028\u007f\u2066\u001b") expect(line.includes(raw), JSON.stringify(raw)).toBe(false);
  expect(JSON.parse(line)).toMatchObject({ given, msg: given });
});
