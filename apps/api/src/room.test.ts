import { forFile } from "@atlasqueue/harness";
import { problem } from "@atlasqueue/contract";
import { beforeAll, expect, test } from "vitest";
import { guardedApp, makeTenant, makeToken } from "../test/guarded-app.ts";
import { serverOf } from "../test/test-app.ts";
import { rawSocket } from "../test/raw-socket.ts";

const api = forFile(guardedApp);
const server = serverOf(api);
let greedy: string;
let modest: string;
beforeAll(async () => {
  greedy = (await makeToken(api.deps, ["admin"], await makeTenant(api.deps))).token;
  modest = (await makeToken(api.deps, ["admin"], await makeTenant(api.deps))).token;
});

const head = (token: string, path: string, length: number) =>
  `POST ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\n` +
  `Idempotency-Key: ${crypto.randomUUID()}\r\nContent-Length: ${length}\r\n\r\n`;

const post = async (token: string, path: string, body: string) => {
  const headers = { "content-type": "application/json", "idempotency-key": crypto.randomUUID() };
  return fetch(`${server.url}${path}`, {
    method: "POST",
    headers: { ...headers, authorization: `Bearer ${token}` },
    body,
  });
};
const large = JSON.stringify({ type: "a", payload: { text: "x".repeat(200_000) } });

test("sockets that declare large bodies and send nothing take no room", async () => {
  const sockets = await Promise.all(Array.from({ length: 300 }, () => rawSocket(server.port)));
  for (const socket of sockets) await socket.writeAll(head(greedy, "/v1/leases/settle", 1_040_000) + "{");
  const answers = await Promise.all([post(modest, "/v1/jobs", large), post(greedy, "/v1/jobs", large)]);
  expect(answers.map(({ status }) => status)).toEqual([201, 201]);
  for (const socket of sockets) socket.end();
});

test("bodies full of keys, items or objects are refused before they are checked", async () => {
  const keys = Array.from({ length: 100_000 }, (_, at) => `"${at.toString(36)}":1`).join(",");
  const bodies = [`{${keys}}`, `{"acks":[${"1,".repeat(400_000)}1]}`, `{"jobs":[${"{},".repeat(300_000)}{}]}`];
  const answers = await Promise.all(
    bodies.flatMap((body) => [1, 2].map(() => post(greedy, "/v1/leases/settle", body))),
  );
  expect(answers.every(({ status }) => status === 413)).toBe(true);
  const told = problem.parse(await answers[0]?.json());
  expect(told.detail).toMatch(/at most/);
});
