import { execFile } from "node:child_process";
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import {
  eventually,
  spawnProcess,
  testDatabase,
  type SpawnedProcess,
  type TestDatabase,
  ownRedis,
} from "@atlasqueue/harness";
import postgres from "postgres";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parse } from "yaml";
import { faultsIn } from "./schema.ts";
import type { Manifest } from "./manifests.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const read = (page: string) => readFileSync(join(root, `apps/docs/pages/operate/${page}.md`), "utf8");
/** What stands in blocks of a language, without the indent of a list that it is in. */
const blocks = (page: string, language: string) =>
  [...read(page).matchAll(new RegExp(`^( *)\`\`\`${language}\\n([\\s\\S]*?)^ *\`\`\`$`, "gm"))].map(
    ([, indent = "", text = ""]) => text.replaceAll(new RegExp(`^${indent}`, "gm"), ""),
  );

let store: TestDatabase;
let redis: Awaited<ReturnType<typeof ownRedis>>;
let system: SpawnedProcess;
let api_url: string;
let bin: string;
beforeAll(async () => {
  [store, redis] = await Promise.all([testDatabase(), ownRedis()]);
  bin = mkdtempSync(join(tmpdir(), "pages-"));
  const env = { DATABASE_URL: store.url, REDIS_URL: redis.url, API_PORT: "0", WORKER_METRICS_PORT: "0", DATA_DIR: bin };
  system = await spawnProcess(join(root, "apps/cli/src/main.ts"), { args: ["start"], env });
  const line = await system.waitForLine(/AtlasQueue runs at http/);
  api_url = /http:\S+/.exec(line)?.[0] ?? "";
  // What the pages call by these names, without the network or a cluster.
  const kustomize = createRequire(import.meta.url).resolve("kustomize/run.js");
  program("atlasqueue", `exec '${process.execPath}' apps/cli/src/main.ts "$@"`);
  program("kubectl", `[ "$1" = kustomize ] || exit 9\nexec '${process.execPath}' '${kustomize}' build "$2"`);
});
afterAll(async () => {
  system.kill("SIGTERM");
  await system.waitForExit();
  await Promise.all([redis.stop(), store.drop()]);
  rmSync(bin, { recursive: true, force: true });
});

function program(name: string, does: string): void {
  writeFileSync(join(bin, name), `#!/bin/sh\n${does}\n`);
  chmodSync(join(bin, name), 0o755);
}

/** In the repository's root, as an operator with a running system pastes it. */
function paste(command: string): Promise<{ code: number; out: string; said: string }> {
  const servers = { DATABASE_URL: store.url, REDIS_URL: redis.url, ATLASQUEUE_URL: api_url };
  const env = { ...process.env, ...servers, PATH: `${bin}:${process.env["PATH"]}` };
  return new Promise((resolve) =>
    execFile(
      "sh",
      ["-ec", command.replaceAll("http://127.0.0.1:8000", api_url)],
      { cwd: root, env },
      (error, out, stderr) =>
        resolve({ code: typeof error?.code === "number" ? error.code : 0, out, said: out + stderr }),
    ),
  );
}

/** As psql sends it, over one connection. */
async function pasteSql(statement: string): Promise<void> {
  const sql = postgres(store.url, { max: 1, onnotice: () => {} });
  try {
    await sql.unsafe(statement);
  } finally {
    await sql.end();
  }
}

// There is no 5xx to find in a system that is well.
const finds_nothing = /grep '.*status_code="5'/;

/** All but those whose commands need more than a running system, or change more. */
const tried = readdirSync(join(root, "apps/docs/pages/operate"))
  .map((file) => file.replace(".md", ""))
  .filter((page) => !["failover", "pooler", "rights"].includes(page));
const inPages = (language: string) =>
  tried.flatMap((page) => blocks(page, language).map((text) => [page, text.split("\n")[0] ?? "", text] as const));

test.each(inPages("sh"))("%s: %s", { tags: ["nightly"] }, async (_page, _first, command) => {
  const { code, said } = await paste(command);
  expect([said, code]).toEqual([said, finds_nothing.test(command) ? 1 : 0]);
});

test.each(inPages("sql"))("%s: the statement %s", async (_page, _first, statement) => {
  await pasteSql(statement);
});

test("the counts that the page makes anew are those of the jobs", { tags: ["nightly"] }, async () => {
  const { sql } = store.database;
  await paste("atlasqueue submit noop --queue nobodys");
  await sql`UPDATE atlasqueue.queue_counts SET queued = queued + 3, dead = dead + 1`;
  await sql`INSERT INTO atlasqueue.queue_counts (tenant, queue, dead) VALUES ('default', 'gone', 7)`;
  const doctor = () => paste("atlasqueue doctor");
  expect(await doctor()).toMatchObject({ code: 1, said: expect.stringMatching(/^✗ counts /m) });
  const repair = blocks("counts", "sql").find((statement) => statement.includes("DELETE FROM atlasqueue.queue_counts"));
  // While jobs come and run.
  let on = true;
  const lanes = Array.from({ length: 8 }, async (_, lane) => {
    for (let at = 0; on || at < 20; at += 1)
      await fetch(`${api_url}/v1/jobs`, {
        method: "POST",
        headers: { "content-type": "application/json", "idempotency-key": `${lane}-${at}` },
        body: JSON.stringify({ type: "noop" }),
      });
  });
  for (let times = 0; times < 5; times += 1)
    await eventually(() => pasteSql(repair ?? "no such block").then(() => true));
  on = false;
  await Promise.all(lanes);
  await eventually(async () =>
    expect(await doctor()).toMatchObject({ code: 0, said: expect.stringMatching(/^✓ counts /m) }),
  );
});

test("the rules as the Prometheus operator takes them", async () => {
  const command = blocks("monitoring", "sh").find((text) => text.includes("PrometheusRule")) ?? "";
  const { out } = await paste(command);
  const rule = parse(out) as Manifest;
  expect(await faultsIn(rule)).toEqual([]);
  expect(rule.spec).toEqual(parse(readFileSync(join(root, "packages/deploy/monitoring/alerts.yaml"), "utf8")));
});
