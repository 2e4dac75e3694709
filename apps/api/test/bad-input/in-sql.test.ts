import { testDatabase, forFile } from "@atlasqueue/harness";
import { expect, test } from "vitest";
import { fieldRows } from "./fields.ts";
import { badFlowRows } from "./flows.ts";

// The rows that are sent to `POST /v1/jobs` and `/v1/jobs/batch`, for the functions `submit` and `submit_flow`.
const own = forFile(testDatabase);

const submit = (body: string) =>
  own.database.sql`
    SELECT atlasqueue.submit(body ->> 'type', coalesce(body -> 'payload', '{}'), body::jsonb - 'type' - 'payload')
    FROM (SELECT ${body}::text::json) AS sent(body)`.then(
    () => undefined,
    (error: { code: string; message: string }) => error,
  );

/** As the only job of a list. */
const submitListed = (body: string) =>
  own.database.sql`SELECT atlasqueue.submit_flow(${`[${body}]`}::text::json)`.then(
    () => undefined,
    (error: { code: string; message: string }) => error,
  );

/** PostgreSQL itself refuses them as `jsonb`: no character, nested too deep for its stack. */
const noJsonb = ["22P05", "22P02", "54001"];
/** `jsonb` keeps the last of two options with the same name, before the function sees them. */
const isTwice = (says: string) => says.includes("more than once") && !says.startsWith("/payload");

test.each([
  ["submit", submit],
  ["submit_flow", submitListed],
])("`%s` refuses fields that the API refuses, and names them", async (_name, refusal) => {
  let refused = 0;
  for (const { what, v1 = [] } of fieldRows) {
    const [{ send, status, says = "" } = { send: { body: undefined }, status: 0 }] = v1;
    if (typeof send.body !== "string" || isTwice(says)) continue;
    const error = await refusal(send.body);
    if (status === 201) expect([what, error?.message]).toEqual([what, undefined]);
    else {
      refused += 1;
      const [, field = ""] = /^(\/\w+)/.exec(says) ?? [];
      expect([what, error?.code]).toEqual([what, error && noJsonb.includes(error.code) ? error.code : "22023"]);
      if (error?.code === "22023") expect([what, error.message]).toEqual([what, expect.stringContaining(field)]);
    }
  }
  expect(refused).toBeGreaterThan(40);
});

const submitFlow = (jobs: unknown, options = "{}") =>
  own.database.sql`SELECT atlasqueue.submit_flow(${JSON.stringify(jobs)}::text::json, ${options}::text::jsonb)`.then(
    () => undefined,
    (error: { code: string; message: string; detail: string }) => error,
  );

test("`submit_flow` refuses the lists that the API refuses, and names the same field", async () => {
  for (const { what, v1 = [] } of badFlowRows) {
    const [{ send, says = "" } = { send: { body: "{}" } }] = v1;
    const { jobs } = JSON.parse(String(send.body)) as { jobs: unknown };
    const error = await submitFlow(jobs);
    expect([what, error?.code, error?.detail]).toEqual([what, "22023", says]);
    expect([what, error?.message]).toEqual([what, expect.stringContaining(`${says} `)]);
  }
  expect(await own.database.sql`SELECT FROM atlasqueue.jobs WHERE queue = 'flow'`).toHaveLength(0);
});

test("`submit_flow` names a field that only it refuses", async () => {
  const flow = [
    { type: "a", ref: "a" },
    { type: "b", depends_on: ["a"] },
  ];
  const unique = { on_conflict: "reject" };
  const refused: [string, unknown, string?][] = [
    ["/jobs/1/unique", [flow[0], { ...flow[1], unique }]],
    ["/then/unique", flow, JSON.stringify({ then: { type: "c", unique } })],
    ["/then/ref", flow, '{"then": {"type": "c", "ref": "c"}}'],
    ["/then/type", flow, '{"then": {}}'],
    ["/then", flow, '{"then": 5}'],
    ["/jobs", { jobs: flow }],
    ["/jobs", null],
    ["/colour", flow, '{"colour": "red"}'],
    ["/idempotency_key", flow, '{"idempotency_key": "k"}'],
    ["/tenant", flow, '{"tenant": 5}'],
    ["/options", flow, "[]"],
  ];
  for (const [field, jobs, options] of refused)
    expect([field, await submitFlow(jobs, options)]).toMatchObject([field, { code: "22023", detail: field }]);
});
