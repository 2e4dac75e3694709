import { forFile } from "@atlasqueue/harness";
import { beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { testApp } from "../../test/test-app.ts";
import { routeDeps } from "../app.ts";
import { createGate, type Gate } from "../http/gate.ts";
import { noBody, type Stated } from "./operation.ts";
import { route, type Route } from "./route.ts";
import { addRoutes } from "./serve.ts";

const said = { tag: "Jobs", summary: "A route of a test" } as const;
const found = { 200: { description: "What was found.", schema: z.object({ text: z.string() }) } };
const thing = {
  ...said,
  at: "POST /v1/things/{name}",
  id: "postThing",
  scope: "submit",
  request: {
    path: z.strictObject({ name: z.string().max(3).describe("a short name") }),
    query: z.strictObject({ colour: z.enum(["red"]).optional() }),
    idempotency_key: "required",
    body: { schema: z.strictObject({ size: z.int().max(9) }), example: { size: 1 }, bytes_max: 100 },
  },
  answers: { 201: { description: "Made.", schema: z.object({ text: z.string() }), headers: { Location: "Where." } } },
} as const satisfies Stated;

const calls: unknown[] = [];
let held = 0;
let done = 0;
const gate: Gate = {
  ...createGate(),
  hold: async (_holder, work, _of, counts) => {
    held += counts ? 1 : 0;
    return work(() => {});
  },
};

const routes: Route[] = [
  route(thing, ({ tenant, path: { name }, query: { colour }, body: { size }, idempotency_key }) => {
    calls.push({ tenant, name, colour, size, idempotency_key });
    return { status: 201, body: { text: name }, headers: { location: `/v1/things/${name}` } };
  }),
  route({ ...said, at: "GET /v1/now", id: "getNow", gate: "own", any_query: true, answers: found }, () => ({
    text: "now",
  })),
  route(
    {
      ...said,
      at: "DELETE /v1/now",
      id: "deleteNow",
      request: { body: noBody },
      answers: { 204: { description: "Gone." } },
    },
    async () => {},
  ),
  route(
    {
      ...said,
      at: "POST /v1/many",
      id: "postMany",
      scope: "submit",
      request: { body: { schema: z.strictObject({ many: z.int() }), example: { many: 1 } } },
      permits: ({ many }: { many: number }) => many,
      answers: found,
    },
    () => {
      done += 1;
      return { text: "done" };
    },
  ),
];

const api = forFile(testApp);
beforeAll(async () => {
  const deps = routeDeps({ ...api.deps, gate, rate_limit: { limit: 100, period_ms: 86_400_000 } });
  addRoutes(api.app, routes, deps);
});

const post = (path: string, body: unknown, key?: string) =>
  api.send("POST", path, undefined, body, key === undefined ? {} : { "idempotency-key": key });
const pointers = async (response: Response) =>
  ((await response.json()) as { errors: { pointer: string }[] }).errors.map(({ pointer }) => pointer);

test("a handler gets what was checked, and its answer has the status and headers it chose", async () => {
  const response = await post("/v1/things/ab?colour=red", { size: 9 }, "k");
  expect([response.status, response.headers.get("location")]).toEqual([201, "/v1/things/ab"]);
  expect(await response.json()).toEqual({ text: "ab" });
  expect(calls).toEqual([{ tenant: "default", name: "ab", colour: "red", size: 9, idempotency_key: "k" }]);
  expect(held).toBe(1);
});

test("the path is checked first, then the query, then the key and the body together", async () => {
  const bad = { size: 10 };
  expect(await pointers(await post("/v1/things/long?shade=1", bad))).toEqual(["path:name"]);
  expect(await pointers(await post("/v1/things/ab?shade=1", bad))).toEqual(["query:shade"]);
  expect(await pointers(await post("/v1/things/ab", bad))).toEqual(["header:Idempotency-Key", "/size"]);
  expect((await post("/v1/things/ab", { size: " ".repeat(100) }, "k")).status).toBe(413);
  expect(calls).toHaveLength(1);
});

test("an operation without a query takes none, unless it allows any", async () => {
  const send = (method: string, query: string) => api.send(method, `/v1/now${query}`);
  expect((await send("GET", "?a=1")).status).toBe(200);
  expect(await pointers(await send("DELETE", "?a=1"))).toEqual(["query:a"]);
  expect((await send("DELETE", "")).status).toBe(204);
});

test("a request for many things takes as many permits, its body counted meanwhile, and is refused before its handler runs", async () => {
  const left = async (many: number) => {
    const { headers } = await post("/v1/many", { many });
    return Number(/r=(\d+)/.exec(headers.get("ratelimit") ?? "")?.[1]);
  };
  expect((await left(1)) - (await left(3))).toBe(3);
  const [counted, handled] = [held, done];
  expect((await post("/v1/many", { many: 100 })).status).toBe(429);
  expect(held).toBe(counted + 1);
  expect(done).toBe(handled);
});

test("a handler that returns what its operation does not declare does not even compile", () => {
  // @ts-expect-error: the operation has no 200.
  route(thing, () => ({ status: 200, body: { text: "" }, headers: { location: "/" } }));
  // @ts-expect-error: its 201 has a Location.
  route(thing, () => ({ status: 201, body: { text: "" } }));
  // @ts-expect-error: there is no such field in its body.
  route(thing, ({ body }) => ({ status: 201, body: { text: body.colour }, headers: { location: "/" } }));
  // @ts-expect-error: without a scope there is no tenant.
  route({ ...said, at: "GET /", id: "get", answers: found }, ({ tenant }) => ({ text: tenant }));
});
