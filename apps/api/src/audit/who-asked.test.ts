import { forFile } from "@atlasqueue/harness";
import type { AuditEntry } from "@atlasqueue/contract";
import { beforeAll, beforeEach, expect, test } from "vitest";
import { guardedApp, makeTenant, makeToken } from "../../test/guarded-app.ts";
import { createRefusals } from "./auditor.ts";

type Made = Awaited<ReturnType<typeof makeToken>>;
const address = "203.0.113.7";

const api = forFile(() => guardedApp({ admin_secret: "correct horse battery" }));
let admin: Made;
let reader: Made;
beforeAll(async () => void ([admin, reader] = [await api.token("admin"), await api.token("read")]));
beforeEach(() => api.deps.database.sql`TRUNCATE atlasqueue.audit_log`);

/** From the address above, under an id that the caller chose. */
async function ask(method: string, path: string, token: string, headers: Record<string, string> = {}) {
  const before = api.events.length;
  const init = { method, headers: { authorization: `Bearer ${token}`, "x-request-id": "mine", ...headers } };
  const response = await api.app.request(`http://localhost${path}`, init, { client_address: address });
  const logged = api.events.slice(before).find(({ event }) => event === "http_request");
  return { status: response.status, logged: logged as { request_id: string } | undefined };
}
const entries = async () =>
  ((await (await api.send("GET", "/v1/audit?limit=200", admin.token)).json()) as { items: AuditEntry[] }).items;

test("the log and the audit log have the token, the address and the API's own id of a request", async () => {
  const { status, logged } = await ask("POST", "/v1/queues/mails/pause", admin.token);
  expect(status).toBe(200);
  expect(logged).toMatchObject({
    caller_request_id: "mine",
    token_id: admin.id,
    tenant: "default",
    client_address: address,
  });
  expect(logged?.request_id).not.toBe("mine");
  expect(await entries()).toMatchObject([
    { action: "queue.pause", actor: { token_id: admin.id }, address, request_id: logged?.request_id, refused: null },
  ]);
});

test("a request that is refused is logged with its token and tenant", async () => {
  const tenant = await makeTenant(api.deps);
  const worker = await makeToken(api.deps, ["work"], tenant);
  expect(await ask("GET", "/v1/jobs", worker.token)).toMatchObject({
    status: 403,
    logged: { token_id: worker.id, tenant, client_address: address },
  });
});

test("an operation that the token does not allow leaves an entry, and one that changes nothing does not", async () => {
  const { status, logged } = await ask("POST", "/v1/queues/mails/pause", reader.token);
  expect(status).toBe(403);
  expect(await entries()).toMatchObject([
    {
      action: "queue.pause",
      target: "mails",
      actor: { kind: "token", token_id: reader.id },
      address,
      request_id: logged?.request_id,
      refused: 1,
      finished: true,
    },
  ]);
  expect((await ask("POST", "/v1/queues/no%20name/pause", reader.token)).status).toBe(403);
  expect((await entries())[0]).toMatchObject({ action: "queue.pause", target: null, refused: 1 });
  const worker = await api.token("work");
  expect((await ask("GET", "/v1/audit", worker.token)).status).toBe(403);
  expect(await entries()).toHaveLength(2);
});

test("an unknown token leaves no entry", async () => {
  const revoked = await api.token("admin");
  await api.send("DELETE", `/v1/tokens/${revoked.id}`, admin.token);
  api.clock.ms += 6_000;
  await api.deps.database.sql`TRUNCATE atlasqueue.audit_log`;
  expect((await ask("POST", "/v1/queues/mails/pause", revoked.token)).status).toBe(401);
  expect(await entries()).toEqual([]);
});

test("a token that is refused all the time leaves ten entries a minute", async () => {
  const stranger = await api.token("read");
  for (let at = 0; at < 40; at += 1)
    expect((await ask("POST", "/v1/queues/mails/pause", stranger.token)).status).toBe(403);
  const kept = (await entries()).length;
  expect(kept).toBeGreaterThanOrEqual(10);
  // One more for each six seconds that this took.
  expect(kept).toBeLessThan(20);
});

test("the next entry counts the calls that left none; tokens don't share their entries", () => {
  let now_ms = 0;
  const refusals = createRefusals(() => now_ms);
  const by = (token_id: string) =>
    refusals.entryOf({
      tenant: "default",
      actor: { kind: "token", token_id, name: null },
      action: "queue.pause",
      target: null,
      count: null,
      detail: null,
      request_id: null,
      address,
      refused: null,
    })?.refused;
  const first = Array.from({ length: 25 }, () => by(reader.id));
  expect(first).toEqual([...Array(10).fill(1), ...Array(15).fill(undefined)]);
  expect(by(admin.id)).toBe(1);
  now_ms += 60_000;
  expect([by(reader.id), by(reader.id)]).toEqual([16, 1]);
});

test("a tenant that is provisioned has an entry with the address and the request", async () => {
  const before = api.events.length;
  const headers = { "x-admin-secret": "correct horse battery", "content-type": "application/json" };
  const init = { method: "POST", headers, body: JSON.stringify({ email: "who@example.com" }) };
  expect((await api.app.request("http://localhost/admin/provision", init, { client_address: address })).status).toBe(
    200,
  );
  const logged = api.events.slice(before).find(({ event }) => event === "http_request");
  const [entry] = await api.deps.database.sql`SELECT address, request_id FROM atlasqueue.audit_log`;
  expect(entry).toMatchObject({ address, request_id: (logged as { request_id: string }).request_id });
});
