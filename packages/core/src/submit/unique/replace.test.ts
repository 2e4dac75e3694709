import { submission } from "@atlasqueue/harness";
import { expect, test } from "vitest";
import { isTakenMeanwhile } from "../../database/clauses.ts";
import { executeOn } from "../../database/statement.ts";
import { submitFlow } from "../../flows/submit-flow.ts";
import { applySubmissions } from "../apply-submissions.ts";
import { draftsOf } from "../drafts.ts";
import { uniqueHarness, idOf, options } from "../../../test/unique-harness.ts";
import { addFlow } from "../../../test/add-flow.ts";
import { advanceAndAdmit } from "../../../test/advance.ts";
import { fail } from "../../settle/settle.ts";

const { deps, add, take, finish, read, jobs, countsAreTrue } = uniqueHarness();

const replace = { key: "u", on_conflict: "replace" } as const;

test("replace puts everything the newer request says into a job that has not started, and keeps its id", async () => {
  const first = await add({ delay_seconds: 60 });
  const payload = { a: 1 };
  const later = { type: "b", priority: 5, max_attempts: 2, timeout_seconds: 9 };
  const backoff = { kind: "fixed", base_seconds: 3 } as const;
  const second = await add({ unique: replace, ...later, payload, backoff, delay_seconds: 120 });
  expect(second).toMatchObject({
    kind: "replaced",
    ready: false,
    job: { id: idOf(first), status: "scheduled", ...later },
  });
  const stored = await read(idOf(first));
  expect(stored).toMatchObject({ ...later, payload, backoff, attempts: 0 });
  expect(Math.round(((stored?.run_at.getTime() ?? 0) - (stored?.updated_at.getTime() ?? 0)) / 1_000)).toBe(120);
  const now = await add({ unique: replace });
  expect(now).toMatchObject({
    kind: "replaced",
    ready: true,
    job: { id: idOf(first), status: "queued", due_at: null },
  });
  const ready_at = (await read(idOf(first)))?.ready_at;
  expect(await add({ unique: replace, payload: { a: 3 } })).toMatchObject({ kind: "replaced", ready: false });
  expect((await read(idOf(first)))?.ready_at).toEqual(ready_at);
  expect(await add({ unique: replace, delay_seconds: 5 })).toMatchObject({
    job: { status: "scheduled", ready_at: null },
  });
  expect(await jobs()).toEqual([idOf(first)]);
  await countsAreTrue();
});

test("a failed job is replaced as if it were new", async () => {
  const id = idOf(await add({}));
  await fail(deps, [{ lease: await take(id), error: "E", verdict: { kind: "retry", delay_ms: 60_000 } }]);
  expect(await add({ unique: replace, payload: { a: 1 } })).toMatchObject({ kind: "replaced", ready: true });
  expect(await read(id)).toMatchObject({ status: "queued", attempts: 0, last_error: null, payload: { a: 1 } });
  await countsAreTrue();
});

test("a job that has started is left alone, and a new one takes its key", async () => {
  const first = idOf(await add({}));
  await take(first);
  const second = await add({ unique: replace, payload: { a: 1 } });
  expect(second.kind).toBe("created");
  expect(await add({ unique: replace, payload: { a: 2 } })).toMatchObject({
    kind: "replaced",
    job: { id: idOf(second) },
  });
  expect((await read(first))?.payload).toEqual({});
  expect(await jobs()).toEqual([first, idOf(second)]);
});

test("a blocked job keeps its place in its group; one in another group is not moved", async () => {
  const ahead = idOf(await add({ unique: undefined, group: "g" }));
  const first = idOf(await add({ group: "g" }));
  await add({ unique: undefined, group: "g" });
  expect(await add({ unique: replace, group: "g", payload: { a: 1 } })).toMatchObject({
    kind: "replaced",
    ready: false,
    job: { id: first, status: "blocked" },
  });
  expect(await add({ unique: replace, group: "h" })).toEqual({ kind: "conflict", job_id: first });
  expect(await add({ unique: replace })).toEqual({ kind: "conflict", job_id: first });
  expect(await finish(ahead)).toMatchObject([{ kind: "applied", ready: [{ id: first }] }]);
  await countsAreTrue();
});

test("a job of a flow is not replaced: its parents' children would do another's work", async () => {
  const { a, b } = await addFlow(deps, { a: {}, b: { after: ["a"] } });
  await deps.database.sql`
    UPDATE atlasqueue.jobs SET unique_key = 'key:u' WHERE id = ${b}`;
  const other = await add({ unique: replace, payload: { other: true } });
  expect(other.kind).toBe("created");
  expect(await read(b)).toMatchObject({ status: "blocked", payload: {} });
  await finish(a);
  await advanceAndAdmit(deps);
  expect(await read(b)).toMatchObject({ status: "queued" });
  // From then on the key is the new job's.
  expect(await add({ unique: replace })).toMatchObject({ kind: "replaced", job: { id: idOf(other) } });
});

/** Sends a replacement of a job as decided when its row had this version. */
async function replaceOf(id: string, version: string) {
  const [draft] = await draftsOf([submission({ unique: replace })]);
  if (!draft) throw new Error("no draft");
  const step = { draft, role: "join" as const, names: id, key_ttl_seconds: 60, seen: { id, version }, writes: true };
  const done = applySubmissions(executeOn(deps.database), [step], "insert");
  return done.then(
    ({ replaced }) => replaced.size,
    (error: unknown) => isTakenMeanwhile(error),
  );
}

test("a job that is a flow's by the time it is to be replaced is left alone", async () => {
  const [id = ""] = [idOf(await add({}))];
  const [seen] = await deps.database.sql`SELECT xmin::text AS version FROM atlasqueue.jobs WHERE id = ${id}`;
  await deps.database.sql`UPDATE atlasqueue.jobs SET flow_id = gen_random_uuid() WHERE id = ${id}`;
  expect(await replaceOf(id, String(seen?.["version"]))).toBe(true);
});

test("a job that others wait for is not replaced, though it is in no flow itself", async () => {
  const first = idOf(await add({ payload: { first: true } }));
  const flow = { jobs: [{ ...submission(), depends_on: [first] }] };
  expect((await submitFlow(deps, flow, options)).kind).toBe("stored");
  const other = await add({ unique: replace, payload: { other: true } });
  expect(other.kind).toBe("created");
  expect(await read(first)).toMatchObject({ status: "queued", flow_id: null, payload: { first: true } });
});

test("a job that others have come to wait for by the time it is to be replaced is left alone", async () => {
  const id = idOf(await add({}));
  const [seen] = await deps.database.sql`SELECT xmin::text AS version FROM atlasqueue.jobs WHERE id = ${id}`;
  expect((await submitFlow(deps, { jobs: [{ ...submission(), depends_on: [id] }] }, options)).kind).toBe("stored");
  expect(await replaceOf(id, String(seen?.["version"]))).toBe(true);
});
