import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { eventually } from "@atlasqueue/harness/servers";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openHistory, type History } from "../history/open-history.ts";
import { alive } from "./alive.ts";
import { keepProcesses } from "./processes.ts";
import { settle } from "./quiet.ts";
import type { Rig } from "./rig.ts";

let folder: string;
let history: History;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "atlasqueue-faults-test-"));
  history = openHistory(join(folder, "history"), "rig");
});
afterEach(() => {
  history.close();
  rmSync(folder, { recursive: true, force: true });
});

const hour_ms = 3_600_000;

test("told to stop while it waits for what is left to do, it waits no longer", async () => {
  const stopping = new AbortController();
  let looks = 0;
  const open = { count: 1, first: [{ id: "never done" }] };
  const postgres = { asAdmin: async () => (looks += 1) && open } as unknown as Rig["postgres"];
  const processes = { end: async () => [] } as unknown as Rig["processes"];
  const settled = settle({ postgres, processes }, hour_ms, stopping.signal);
  await eventually(() => looks > 1);
  stopping.abort();
  expect(await settled).toEqual(open.first);
});

test("told to stop while programs are to end, it waits for none of them, and leaves none behind", async () => {
  const processes = keepProcesses(folder, history);
  const stopping = new AbortController();
  const file = fileURLToPath(new URL("../../test/deaf.ts", import.meta.url));
  processes.start({ name: "deaf", role: "worker", file, env: {}, uses: [] });
  const [{ pid = 0 } = {}] = processes.running();
  await eventually(() => readFileSync(join(folder, "deaf.log"), "utf8").includes("ready"), { timeout_ms: 60_000 });
  const ended = processes.end("worker", hour_ms, stopping.signal);
  stopping.abort();
  expect(await ended).toEqual([]);
  expect(alive(pid)).toBe(true);
  processes.killAll();
  await eventually(() => !alive(pid));
});
