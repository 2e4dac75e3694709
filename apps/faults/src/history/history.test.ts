import { appendFileSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { once } from "node:events";
import { spawn } from "node:child_process";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openHistory } from "./open-history.ts";
import { readHistory } from "./read-history.ts";

let folder: string;
beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), "history-"))));
afterEach(() => rmSync(folder, { recursive: true }));

const pause = (queue: string) => ({ tenant: "a", queue, paused: true });
const files = () => readdirSync(folder).map((name) => join(folder, name));

test("the lines of several processes come back in the order in which they were written", () => {
  const [one, two] = [openHistory(folder, "one"), openHistory(folder, "two")];
  const first = one.invoke("pause", pause("q1"));
  const second = two.invoke("pause", pause("q2"));
  first.ok({ queue: "q1" });
  second.info(new Error("no answer"));
  const lines = [...readHistory(folder)];
  expect(lines.map(({ process, is }) => [process, is])).toEqual([
    ["one", "invoke"],
    ["two", "invoke"],
    ["one", "ok"],
    ["two", "info"],
  ]);
  expect(lines[2]?.op).toBe(lines[0]?.op);
  expect(lines[3]?.op).toBe(lines[1]?.op);
  expect(lines[3]).toMatchObject({ error: "Error: no answer" });
});

test("a process that starts again goes on in another file", () => {
  for (const queue of ["q1", "q2"]) openHistory(folder, "one").invoke("pause", pause(queue));
  expect([...readHistory(folder)]).toMatchObject([{ queue: "q1" }, { queue: "q2" }]);
});

test("half a line at the end is passed over, a broken one before the end is not", () => {
  openHistory(folder, "one").invoke("pause", pause("q1"));
  const [file = ""] = files();
  appendFileSync(file, '{"at_ns":1,"proc');
  expect([...readHistory(folder)]).toHaveLength(1);
  appendFileSync(file, "\n");
  expect(() => [...readHistory(folder)]).toThrow("not a line of a history");
});

test("a line must be what its move says", () => {
  openHistory(folder, "one").invoke("pause", { queue: "q1" } as ReturnType<typeof pause>);
  expect(() => [...readHistory(folder)]).toThrow("not a line of a history");
});

test("a line longer than a chunk is read whole", () => {
  const jobs = Array.from({ length: 10_000 }, (_, at) => ({
    nonce: `${at}-${"x".repeat(180)}`,
    kind: "plain",
    tenant: "a",
    queue: "q",
    ends: "succeeded" as const,
  }));
  openHistory(folder, "one").invoke("submit", { via: "http", jobs });
  expect([...readHistory(folder)]).toMatchObject([{ move: "submit", jobs }]);
});

test("a SIGKILL loses no line", async () => {
  const source = `
    import { openHistory } from ${JSON.stringify(new URL("open-history.ts", import.meta.url).href)};
    const history = openHistory(${JSON.stringify(folder)}, "killed");
    for (let at = 1; at <= 1_000; at += 1) history.invoke("pause", { tenant: "a", queue: "q" + at, paused: true });
    process.kill(process.pid, "SIGKILL");`;
  const child = spawn(process.execPath, ["--input-type=module", "--eval", source], { stdio: "inherit" });
  expect(await once(child, "exit")).toEqual([null, "SIGKILL"]);
  expect([...readHistory(folder)]).toHaveLength(1_000);
});
