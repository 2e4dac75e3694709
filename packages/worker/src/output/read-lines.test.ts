import { PassThrough } from "node:stream";
import { eventually } from "@atlasqueue/harness";
import { expect, test } from "vitest";
import { readLines } from "./read-lines.ts";

test("however much there is to read, each chunk has a turn of its own, and the last line needs no end", async () => {
  const output = new PassThrough({ highWaterMark: 1_000_000 });
  const heard: { line: string; turn: number }[] = [];
  let turn = 0;
  readLines(output, (line) => heard.push({ line, turn }));
  const chunks = Array.from({ length: 20 }, (_, at) => `line ${at}`);
  for (const chunk of chunks.slice(0, -1)) output.write(`${chunk}\n`);
  output.end(chunks.at(-1));
  const counting = { on: true };
  const count = () => {
    turn += 1;
    if (counting.on) setImmediate(count);
  };
  count();
  await eventually(async () => expect(heard).toHaveLength(chunks.length));
  counting.on = false;
  expect(heard.map(({ line }) => line)).toEqual(chunks);
  expect(new Set(heard.slice(0, -1).map((one) => one.turn)).size).toBe(chunks.length - 1);
});
