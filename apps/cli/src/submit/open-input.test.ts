import { expect, test } from "vitest";
import { namedPipe, ndjson } from "../../test/inputs.ts";
import { openInput, type Input } from "./open-input.ts";

async function textOf({ chunks }: Input): Promise<string> {
  const parts: Buffer[] = [];
  for await (const chunk of chunks) parts.push(chunk);
  return Buffer.concat(parts).toString();
}

test("a file is read to its end, and its size is known", async () => {
  const text = "x".repeat(199_999);
  const input = await openInput(ndjson(text));
  expect(input.bytes_total).toBe(200_000);
  expect(await textOf(input)).toBe(`${text}\n`);
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
