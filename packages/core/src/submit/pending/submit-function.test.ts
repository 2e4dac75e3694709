import { forFile, submission, testCore } from "@atlasqueue/harness";
import { expect, test } from "vitest";
import { admitAll } from "../../../test/advance.ts";
import { executeIn } from "../../database/caller-transaction.ts";
import { findJob } from "../../jobs/find.ts";
import { enqueue } from "../enqueue.ts";
import { submitInside } from "./submit-inside.ts";

const options = { idempotency_ttl_seconds: 60 };
const deps = forFile(testCore);

const submit = async (type: string, payload: object = {}, asked: object = {}): Promise<string> => {
  const [row] = await deps.database.sql<{ submit: string }[]>`
    SELECT atlasqueue.submit(${type}, ${JSON.stringify(payload)}::text::json, ${JSON.stringify(asked)}::text::jsonb)`;
  return row?.submit ?? "";
};

test("a job of SQL is one of the API's: its defaults, its fields, its id in order", async () => {
  const [row] = await deps.database.sql<{ a: string; b: string }[]>`
    SELECT atlasqueue.submit('mail', '{"to": "a@example.org"}') AS a,
           atlasqueue.submit('mail', '{}', '{"queue": "q", "priority": 7, "delay_seconds": 60, "timeout_seconds": 5, "expires_in": 60, "tags": ["b", "a"], "backoff": {"kind": "fixed", "base_seconds": 2}}') AS b`;
  const [a, b] = await Promise.all([findJob(deps, "default", row?.a ?? ""), findJob(deps, "default", row?.b ?? "")]);
  expect(a).toMatchObject({ type: "mail", queue: "default", status: "queued", priority: 0, max_attempts: 5 });
  expect(a).toMatchObject({ payload: { to: "a@example.org" } });
  expect(b).toMatchObject({ queue: "q", status: "scheduled", priority: 7, timeout_seconds: 5, tags: ["b", "a"] });
  expect(Number(b?.expires_at) - Number(b?.created_at)).toBe(60_000);
  expect(b).toMatchObject({ backoff: { kind: "fixed", base_seconds: 2 } });
  const ids = await deps.database.sql<{ id: string }[]>`SELECT atlasqueue.uuid_v7() AS id FROM generate_series(1, 100)`;
  expect(ids.map(({ id }) => id[14])).toEqual(ids.map(() => "7"));
  const within = Math.abs(parseInt((ids[0]?.id ?? "").replace("-", "").slice(0, 12), 16) - Date.now());
  expect(within).toBeLessThan(60_000);
});

test("a payload is kept as the caller wrote it, and a jsonb value is cast", async () => {
  const text = '{"b": 1.0,  "a": 1e2}';
  const [row] = await deps.database.sql<{ a: string; b: string }[]>`
    SELECT atlasqueue.submit('noop', ${text}::text::json) AS a, atlasqueue.submit('noop', ${text}::text::jsonb::json) AS b`;
  const kept = async (id = "") =>
    (await deps.database.sql`SELECT payload::text FROM atlasqueue.jobs WHERE id = ${id}`)[0]?.["payload"] as string;
  expect([await kept(row?.a), await kept(row?.b)]).toEqual([text, '{"a": 100, "b": 1.0}']);
  const twice = deps.database.sql`SELECT atlasqueue.submit('noop', '{"a": [{"b": 1, "b": 2}]}')`;
  await expect(twice).rejects.toMatchObject({ code: "22023", detail: "/payload" });
});

const difficult = {
  type: "naïve \u{1F600}",
  payload: {
    z: [1, 1.5, -0.000001, 1e-7, 1.25e-10, 100000, 0, null, true, [], {}, '\n\u0001"\\/ü\u{1F600}\u007f'],
    a: { b: { "": 1, "10": 2, "9": 3, B: 4 } },
  },
};

test("a key means the same request in SQL as everywhere else, before and after its admission", async () => {
  const fields = {
    ...difficult,
    run_at: "2001-01-31T12:00:00.5+02:00",
    unique: { scope: "window" as const, window_seconds: 60 },
  };
  const { type, payload, ...rest } = fields;
  const [posted] = await enqueue(deps, [submission(fields, "posted")], options);
  const posted_id = posted && "job" in posted ? posted.job.id : "";
  expect(await submit(type, payload, { ...rest, idempotency_key: "posted" })).toBe(posted_id);
  await expect(submit(type, {}, { ...rest, idempotency_key: "posted" })).rejects.toMatchObject({
    code: "23505",
    detail: "/idempotency_key",
    message: expect.stringContaining(posted_id) as string,
  });
  const id = await submit(type, payload, { priority: 1, idempotency_key: "in sql" });
  expect(await submit(type, payload, { priority: 1, idempotency_key: "in sql" })).toBe(id);
  await expect(submit(type, payload, { idempotency_key: "in sql" })).rejects.toMatchObject({ code: "23505" });
  await admitAll(deps);
  const again = await enqueue(deps, [submission({ ...difficult, priority: 1 }, "in sql")], options);
  expect(again).toMatchObject([{ kind: "replayed", job: { id, status: "queued" } }]);
});

test("a unique job and one of a group wait for the commit, and a held unique key is refused by name", async () => {
  const first = await submit("report", difficult.payload, { unique: { on_conflict: "reject" }, group: "g" });
  expect(await findJob(deps, "default", first)).toMatchObject({ status: "blocked", group_key: "g" });
  await admitAll(deps);
  expect(await findJob(deps, "default", first)).toMatchObject({ status: "queued" });
  const refused = submit("report", difficult.payload, { unique: { on_conflict: "reject" } });
  await expect(refused).rejects.toMatchObject({ code: "23505", message: expect.stringContaining(first) as string });
});

test("an application's trigger submits a job, which a rollback takes back", async () => {
  const { sql } = deps.database;
  await sql.unsafe(`
    CREATE TABLE orders (id integer PRIMARY KEY);
    CREATE FUNCTION invoice() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      PERFORM atlasqueue.submit('invoice.write', to_json(NEW), jsonb_build_object('idempotency_key', 'invoice-' || NEW.id));
      RETURN NEW;
    END $$;
    CREATE TRIGGER invoice AFTER INSERT ON orders FOR EACH ROW EXECUTE FUNCTION invoice();`);
  const made = () => sql`SELECT payload FROM atlasqueue.jobs WHERE type = 'invoice.write'`;
  await sql
    .begin(async (tx) => {
      await tx`INSERT INTO orders VALUES (16)`;
      throw new Error("not wanted");
    })
    .catch(() => {});
  expect([...(await made())]).toEqual([]);
  await sql`INSERT INTO orders VALUES (17)`;
  expect([...(await made())]).toEqual([{ payload: { id: 17 } }]);
});

test("a refusal of submitIn leaves the transaction as it was", async () => {
  await submit("noop", {}, { idempotency_key: "taken" });
  await deps.database.sql.begin(async (tx) => {
    const outcome = await submitInside(executeIn(tx), submission({ priority: 3 }, "taken"), options);
    expect(outcome).toEqual({ kind: "mismatch" });
    expect(await tx`SELECT 1 AS one`).toHaveLength(1);
  });
});

test("a granted role submits for its tenant only, and needs no right on a table", async () => {
  const role = `submits_${process.pid}`;
  const { sql } = deps.database;
  await sql.unsafe(`CREATE ROLE ${role}; GRANT USAGE ON SCHEMA atlasqueue TO ${role};
    GRANT EXECUTE ON FUNCTION atlasqueue.submit(text, json, jsonb) TO ${role}`);
  const asRole = (asked: string) =>
    sql.begin(async (tx) => {
      await tx.unsafe(`SET LOCAL ROLE ${role}`);
      const [row] = await tx<{ id: string }[]>`SELECT atlasqueue.submit('noop', '{}', ${asked}::text::jsonb) AS id`;
      return row?.id ?? "";
    });
  try {
    await expect(asRole("{}")).rejects.toMatchObject({ code: "42501" });
    await sql`INSERT INTO atlasqueue.tenants (tenant) VALUES ('acme')`;
    await sql`SELECT atlasqueue.grant_submit(${role}, 'acme')`;
    expect(await findJob(deps, "acme", await asRole("{}"))).toMatchObject({ type: "noop" });
    expect(await findJob(deps, "acme", await asRole('{"tenant": "acme"}'))).toMatchObject({ type: "noop" });
    await expect(asRole('{"tenant": "default"}')).rejects.toMatchObject({ code: "42501", detail: "/tenant" });
  } finally {
    await sql.unsafe(`DROP OWNED BY ${role}; DROP ROLE ${role}`);
  }
});
