import { replay, replayPage, replayPreview } from "@atlasqueue/contract";
import { createLogger, memorySignal } from "@atlasqueue/core";
import { eventually, forFile } from "@atlasqueue/harness";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { guardedApp } from "../../test/guarded-app.ts";
import { pagesOf } from "../../test/pages-of.ts";
import { cookieOf, own } from "../../test/sessions.ts";
import { testApp } from "../../test/test-app.ts";
import { readApiConfig } from "../config.ts";
import { startApi } from "../start-api.ts";

const api = forFile(testApp);
beforeEach(() => api.deps.database.sql`TRUNCATE atlasqueue.jobs, atlasqueue.operations`);

const dead = (count: number) => api.deps.database.sql`
  INSERT INTO atlasqueue.jobs (id, type, status, run_at, created_at, updated_at, finished_at, dead_at, payload)
  SELECT gen_random_uuid(), 'mail', 'dead', now(), now(), now(), now(), now(), json_build_object('n', n)
  FROM generate_series(1, ${count}::int) AS n`;
const path = "/v1/dlq/replays";
const create = (body: object) => api.send("POST", path, undefined, body);

test("a replay is looked at first, then made, listed, steered, and over", async () => {
  await dead(3);
  const wish = { filter: { type: "mail" }, patch: { relay: "b" }, rate: 2 };
  const preview = await create({ ...wish, dry_run: true });
  expect(preview.status).toBe(200);
  const { matched, complete, died_before, sample } = replayPreview.parse(await preview.json());
  expect({ matched, complete, fits: sample?.fits, relay: sample?.after.relay }).toEqual({
    matched: 3,
    complete: true,
    fits: true,
    relay: "b",
  });
  await dead(2);
  const counted = { ...wish, filter: { ...wish.filter, died_before } };
  const made = await create(counted);
  expect(made.status).toBe(201);
  const { id, ...shown } = replay.parse(await made.json());
  expect(shown).toMatchObject({
    ...counted,
    state: "running",
    matched: 3,
    replayed: 0,
    created_by: { kind: "anybody" },
  });
  const { items } = replayPage.parse(await (await api.get(path)).json());
  expect(items.map((one) => one.id)).toEqual([id]);
  expect(replay.parse(await (await api.get(`${path}/${id}`)).json())).toMatchObject({ id, ...shown });
  for (const [verb, state] of [
    ["pause", "paused"],
    ["resume", "running"],
    ["cancel", "cancelled"],
  ]) {
    const steered = await api.send("POST", `${path}/${id}/${verb}`);
    expect(replay.parse(await steered.json())).toMatchObject({ id, state });
  }
  expect((await api.send("POST", `${path}/${id}/resume`)).status).toBe(409);
});

test("PAYLOAD_BYTES_MAX bounds patched payloads too, in the look at one and in the replay", async () => {
  await dead(1);
  const config = readApiConfig({ DATABASE_URL: api.database_url, API_PORT: "0", PAYLOAD_BYTES_MAX: "40" });
  const small = await startApi(config, { signal: memorySignal(), logger: createLogger("silent", "test") });
  onTestFinished(small.stop);
  const ask = async (body?: object, of = "") => {
    const init = { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
    return (await fetch(`${small.url}${path}${of}`, body ? init : {})).json();
  };
  const wish = { filter: { all: true }, patch: { fill: "x".repeat(40) } };
  expect(replayPreview.parse(await ask({ ...wish, dry_run: true })).sample).toMatchObject({ fits: false });
  const { id } = replay.parse(await ask(wish));
  await eventually(async () => {
    const seen = replay.parse(await ask(undefined, `/${id}`));
    expect(seen).toMatchObject({ state: "done", replayed: 0, left_over: 1 });
  });
});

test("a page of replays with large patches is cut at its bytes, and goes on there", async () => {
  const patch = JSON.stringify({ fill: "x".repeat(500_000) });
  await api.deps.database.sql`
    INSERT INTO atlasqueue.operations (id, tenant, kind, status, filter, patch, total, total_complete, until_us, cursor, next_at, made_by, payload_bytes_max, created_at, updated_at)
    SELECT gen_random_uuid(), 'default', 'replay', 'done', '{"all":true}', ${patch}::text::json, 0, true, 0, '{"start":true}', now(),
           '{"kind":"anybody","token_id":null,"name":null}', 1000000, now(), now() FROM generate_series(1, 20)`;
  const get = async (more: string) => replayPage.parse(await (await api.get(`${path}?limit=200${more}`)).json());
  const pages = await pagesOf(get);
  for (const page of pages) expect(page.length).toBeLessThanOrEqual(9);
  const seen = pages.flat().map(({ id }) => id);
  expect(new Set(seen).size).toBe(20);
  expect(seen).toEqual(seen.toSorted().reverse());
});

test("who made a replay stays with it, by token or by session", async () => {
  const guarded = await guardedApp();
  onTestFinished(guarded.stop);
  const { id, token } = await guarded.token("admin");
  const made = await guarded.send("POST", path, token, { filter: { all: true } });
  expect(replay.parse(await made.json()).created_by).toEqual({ kind: "token", token_id: id, name: "test" });
  const signedIn = await guarded.send("POST", "/v1/session", undefined, { token });
  const headers = { ...cookieOf(signedIn), ...own };
  const again = await guarded.send("POST", path, undefined, { filter: { all: true } }, headers);
  expect(replay.parse(await again.json()).created_by).toMatchObject({ kind: "session", name: "test" });
});

test("a replay begun by an API that is gone is carried on by the next one", { timeout: 60_000 }, async () => {
  await dead(1_200);
  const { id } = replay.parse(await (await create({ filter: { all: true } })).json());
  const config = readApiConfig({ DATABASE_URL: api.database_url, API_PORT: "0" });
  const next = await startApi(config, { signal: memorySignal(), logger: createLogger("silent", "test") });
  onTestFinished(next.stop);
  await eventually(async () => {
    const seen = replay.parse(await (await fetch(`${next.url}${path}/${id}`)).json());
    expect(seen).toMatchObject({ state: "done", replayed: 1_200, left_over: 0 });
  });
});
