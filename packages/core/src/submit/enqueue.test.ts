import { submission } from "@atlasqueue/harness";
import { expect, test } from "vitest";
import { engineHarness } from "../../test/engine-harness.ts";
import { findJob } from "../jobs/find.ts";
import { enqueue } from "./enqueue.ts";
import type { EnqueueOutcome } from "./outcome.ts";

const { deps, recorded } = engineHarness();
const options = { idempotency_ttl_seconds: 3_600 };

const idOf = (outcome: EnqueueOutcome | undefined) => (outcome && "job" in outcome ? outcome.job.id : undefined);

test("a job is stored as requested", async () => {
  const payload = { to: "a@b.c", list: [1, { deep: null }], ["__proto__x"]: true };
  const request = { type: "email.send", payload, queue: "mail", priority: 7, max_attempts: 2, timeout_seconds: 9 };
  const [outcome] = await enqueue(deps, [submission(request)], options);
  const stored = await findJob(deps, "default", idOf(outcome) ?? "");
  expect(outcome).toEqual({ kind: "created", job: stored });
  expect(stored).toMatchObject({ ...request, status: "queued", attempts: 0, tenant: "default" });
});

test("a payload's __proto__ is data like any other", async () => {
  const payload = JSON.parse('{"__proto__": {"polluted": true}, "a": 1}');
  const [outcome] = await enqueue(deps, [submission({ payload })], options);
  const stored = await findJob(deps, "default", idOf(outcome) ?? "");
  expect(JSON.stringify(stored?.payload)).toBe('{"__proto__":{"polluted":true},"a":1}');
});

test("the same key and request give the same job, whatever the order of the fields", async () => {
  const [first] = await enqueue(deps, [submission({ payload: { a: 1, b: { c: 2, d: 3 } } }, "same")], options);
  const [again] = await enqueue(deps, [submission({ payload: { b: { d: 3, c: 2 }, a: 1 } }, "same")], options);
  expect([first?.kind, again?.kind]).toEqual(["created", "replayed"]);
  expect(idOf(again)).toBe(idOf(first));
});

test("the same key with a different request is a mismatch, and changes nothing", async () => {
  const [first] = await enqueue(deps, [submission({ payload: { amount: 1 } }, "changed")], options);
  const [other] = await enqueue(deps, [submission({ payload: { amount: 2 } }, "changed")], options);
  expect(other).toEqual({ kind: "mismatch" });
  expect((await findJob(deps, "default", idOf(first) ?? ""))?.payload).toEqual({ amount: 1 });
});

test("what a key stands for besides the request counts: the same request with another fingerprint is a mismatch", async () => {
  const of = (fingerprint?: string) => enqueue(deps, [{ ...submission({}, "printed"), fingerprint }], options);
  const kinds = [];
  for (const fingerprint of ["a", "a", "b", undefined]) kinds.push((await of(fingerprint))[0]?.kind);
  expect(kinds).toEqual(["created", "replayed", "mismatch", "mismatch"]);
});

test("each tenant has its own keys", async () => {
  const [first] = await enqueue(deps, [submission({}, "shared")], options);
  const [second] = await enqueue(deps, [{ ...submission({}, "shared"), tenant: "acme" }], options);
  expect([first?.kind, second?.kind]).toEqual(["created", "created"]);
  expect(await findJob(deps, "default", idOf(second) ?? "")).toBeUndefined();
});

test("fifty submissions of one key make one job", async () => {
  const answers = await Promise.all(
    Array.from({ length: 50 }, () => enqueue(deps, [submission({}, "crowd")], options)),
  );
  const kinds = answers.map(([outcome]) => outcome?.kind);
  expect(kinds.filter((kind) => kind === "created")).toHaveLength(1);
  expect(kinds.filter((kind) => kind === "replayed")).toHaveLength(49);
  expect(new Set(answers.map(([outcome]) => idOf(outcome))).size).toBe(1);
});

test("batches that share keys in opposite orders do not block each other", async () => {
  const keys = Array.from({ length: 40 }, (_, at) => `crossed-${at}`);
  const batch = (some: string[]) =>
    enqueue(
      deps,
      some.map((key) => submission({}, key)),
      options,
    );
  const answers = await Promise.all(Array.from({ length: 8 }, (_, at) => batch(at % 2 ? keys : keys.toReversed())));
  expect(answers.flat().filter(({ kind }) => kind === "created")).toHaveLength(40);
  expect(answers.flat().filter(({ kind }) => kind === "replayed")).toHaveLength(280);
});

test("an expired key is free again", async () => {
  const [first] = await enqueue(deps, [submission({}, "old")], options);
  await deps.database
    .sql`UPDATE atlasqueue.idempotency_keys SET expires_at = now() - interval '1 second' WHERE key = 'old'`;
  const [second] = await enqueue(deps, [submission({ priority: 3 }, "old")], options);
  expect(second?.kind).toBe("created");
  expect(idOf(second)).not.toBe(idOf(first));
});

test("a row PostgreSQL refuses takes its key and its neighbours with it, so nothing is half done", async () => {
  const bad = { ...submission({}, "poisoned"), tenant: "a\0b" };
  await expect(enqueue(deps, [submission({}, "beside"), bad], options)).rejects.toThrow();
  const [beside] = await enqueue(deps, [submission({}, "beside")], options);
  expect(beside?.kind).toBe("created");
});

test("a job for later is scheduled by the database's clock; a past time means now", async () => {
  const outcomes = await enqueue(
    deps,
    [
      submission({ delay_seconds: 60 }),
      submission({ run_at: "2099-01-01T00:00:00+02:00" }),
      submission({ run_at: "1999-01-01T00:00:00Z" }),
      submission({ delay_seconds: 0 }),
    ],
    options,
  );
  const jobs = outcomes.flatMap((outcome) => ("job" in outcome ? [outcome.job] : []));
  expect(jobs.map((job) => job.status)).toEqual(["scheduled", "scheduled", "queued", "queued"]);
  expect(jobs.map((job) => job.run_at.getTime() - job.created_at.getTime())).toEqual([
    60_000,
    Date.parse("2098-12-31T22:00:00Z") - (jobs[1]?.created_at.getTime() ?? 0),
    0,
    0,
  ]);
});

test("each outcome is reported once", async () => {
  recorded.events.length = 0;
  await enqueue(deps, [submission({}, "told")], options);
  await enqueue(deps, [submission({}, "told")], options);
  await enqueue(deps, [submission({ priority: 1 }, "told")], options);
  expect(recorded.events.map(({ event }) => event)).toEqual([
    "job_created",
    "idempotent_submission",
    "idempotency_mismatch",
  ]);
});
