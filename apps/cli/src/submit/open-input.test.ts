import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { namedPipe } from "../../test/inputs.ts";
import { dataFolder } from "../../test/run-start.ts";
import { openInput, type Input } from "./open-input.ts";

async function textOf({ chunks }: Input): Promise<string> {
  const parts: Buffer[] = [];
  for await (const chunk of chunks) parts.push(chunk);
  return Buffer.concat(parts).toString();
}

test("a file is read to its end, and its size is known", async () => {
  const folder = dataFolder();
  onTestFinished(folder.remove);
  const path = join(folder.path, "jobs.ndjson");
  const text = "x".repeat(200_000);
  writeFileSync(path, text);
  const input = await openInput(path);
  expect(input.bytes_total).toBe(200_000);
  expect(await textOf(input)).toBe(text);
});

test("a named pipe is read until its writer leaves", async () => {
  const pipe = namedPipe();
  const input = await openInput(pipe.path);
  expect(input.bytes_total).toBeUndefined();
  const text = textOf(input);
  pipe.write("one\n");
  pipe.write("two\n");
  pipe.end();
  expect(await text).toBe("one\ntwo\n");
});

test("closed, a named pipe whose writer is silent is waited for no longer", async () => {
  const pipe = namedPipe();
  pipe.write("one\n");
  const { chunks, close } = await openInput(pipe.path);
  const reader = chunks[Symbol.asyncIterator]();
  expect(String((await reader.next()).value)).toBe("one\n");
  const next = reader.next();
  close();
  await expect(next).rejects.toThrow(`${pipe.path} cannot be read`);
});
