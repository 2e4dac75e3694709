import { limits } from "@atlasqueue/contract";
import { expect, test } from "vitest";
import { lineJob, type LineContext } from "./line-job.ts";
import { readLines, type Line } from "./read-lines.ts";

async function* chunksOf(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function linesOf(content: string | Buffer, chunk_size = 3, bytes_max = 20): Promise<Line[]> {
  const lines: Line[] = [];
  for await (const line of readLines(chunksOf(Buffer.from(content), chunk_size), bytes_max)) lines.push(line);
  return lines;
}

test("lines are assembled from any pieces, with or without a final newline", async () => {
  for (const size of [1, 2, 3, 100]) {
    const lines = await linesOf("\u{feff}one\r\n\nzwei ü\n€", size);
    expect(lines.map((line) => "text" in line && line.text)).toEqual(["one", "", "zwei ü", "€"]);
    expect(lines.map((line) => line.number)).toEqual([1, 2, 3, 4]);
    expect(lines.at(-1)?.end_offset).toBe(Buffer.byteLength("\u{feff}one\r\n\nzwei ü\n€"));
  }
  expect(await linesOf("")).toEqual([]);
});

test("a line that is too long or not UTF-8 is a fault, and the next one is read", async () => {
  const bytes = Buffer.concat([Buffer.from(`${"x".repeat(21)}\nok\n`), Buffer.from([0xff, 10]), Buffer.from("end")]);
  const lines = await linesOf(bytes);
  expect(lines.map((line) => ("text" in line ? line.text : line.fault))).toEqual([
    "longer than 20 bytes",
    "ok",
    "not valid UTF-8",
    "end",
  ]);
});

test.each([
  ["utf16le", Buffer.from([0xff, 0xfe]), ""],
  ["utf16le", Buffer.alloc(0), ""],
  ["big-endian", Buffer.from([0xfe, 0xff]), ""],
])("a file in UTF-16 is named as such: %s %j", async (kind, mark) => {
  const text = Buffer.from('{"type":"a"}\n', "utf16le");
  const lines = await linesOf(Buffer.concat([mark, kind === "big-endian" ? text.swap16() : text]), 3, 200);
  expect(lines[0]).toMatchObject({ fault: "UTF-16, not UTF-8: save the file as UTF-8" });
});

const context: LineContext = { file_name: "jobs.ndjson", key_prefix: "file", defaults: {} };

test("a line without a key gets the same one each time, and a different one when anything differs", () => {
  const key = (text: string, line = 1, changed: Partial<LineContext> = {}) => {
    const job = lineJob(text, line, { ...context, ...changed });
    return "key" in job ? job.key : job.fault;
  };
  const text = '{"type":"a","payload":{"b":1,"c":2}}';
  expect(key(text)).toBe(key('{ "payload": {"c":2,"b":1}, "type":"a" }'));
  const others = [
    key('{"type":"a","payload":{"b":1,"c":3}}'),
    key(text, 2),
    key(text, 1, { file_name: "others.ndjson" }),
    key(text, 1, { key_prefix: "again" }),
    key(text, 1, { defaults: { priority: 3 } }),
  ];
  expect(new Set([key(text), ...others]).size).toBe(6);
});

test("a line's own fields win over the defaults, and its key is not a field", () => {
  const defaults = { queue: "slow", priority: 3, delay_seconds: 5 };
  const text = '{"type":"a","priority":4,"run_at":"2030-01-01T00:00:00Z","idempotency_key":"k-1"}';
  expect(lineJob(text, 1, { ...context, defaults })).toEqual({
    key: "k-1",
    request: { type: "a", priority: 4, queue: "slow", run_at: "2030-01-01T00:00:00Z" },
  });
});

test.each([
  ["{", "not JSON"],
  ["[1]", "must be a JSON object"],
  ["null", "must be a JSON object"],
  ['{"type":"a","idempotency_key":7}', "/idempotency_key must be 1 to 512 printable ASCII"],
  ['{"type":"a","idempotency_key":"ä"}', "/idempotency_key must be 1 to 512 printable ASCII"],
  ['{"type":"a","payload":{"n":12345678901234567890}}', "/payload/n must be an integer within"],
  [
    `{"type":"a","payload":${"[".repeat(200_000)}${"]".repeat(200_000)}}`,
    `deeper than ${limits.json_depth_max} levels`,
  ],
])("%.50s is a fault", (text, fault) => {
  expect(lineJob(text, 1, context)).toEqual({ fault: expect.stringContaining(fault) });
});
