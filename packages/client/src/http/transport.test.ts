import { httpReceiver, type Answer } from "@atlasqueue/harness";
import { expect, onTestFinished, test } from "vitest";
import { AuthError, createClient, NetworkError, TimeoutError, type ClientOptions } from "../index.ts";

// A network that breaks at the right moment, which the real API cannot be made to do. What every client does then, such
// as the Python one, is in the cases of packages/system-tests/client/conformance.

const json = (status: number, body: object): Answer => ({
  status,
  headers: { "content-type": "application/json" },
  body: JSON.stringify(body),
});
const job = { id: "17", status: "queued" };

/** A client of a server that gives these answers in turn, repeating the last one. */
async function clientOf(answers: Answer[], options: Partial<ClientOptions> = {}) {
  let next = 0;
  const server = await httpReceiver(() => answers[Math.min(next++, answers.length - 1)] ?? "hang_up");
  onTestFinished(() => server.close());
  return { client: createClient({ url: server.url, ...options }), server };
}

test("two submits have two keys, and a key that no header can carry is refused", async () => {
  const { client, server } = await clientOf([json(201, job)]);
  await client.submit({ type: "a" });
  await client.submit({ type: "a" });
  const [first, second] = server.requests.map(({ headers }) => headers["idempotency-key"]);
  expect(first).not.toBe(second);
  await expect(client.submit({ type: "a", idempotency_key: "ключ" })).rejects.toThrow("printable ASCII");
});

test("a lease whose answer was lost is asked for again with the same token", async () => {
  const { client, server } = await clientOf(["hang_up", json(200, { jobs: [] })]);
  expect(await client.lease("default", { workerId: "w" })).toEqual([]);
  const [first, again] = server.requests.map(({ body }) => body);
  expect(again).toEqual(first);
});

test("a lease waits at most a third of what it lasts, so that it can be repeated in time", async () => {
  const { client, server } = await clientOf([json(200, { jobs: [] })]);
  await client.lease("default", { workerId: "w", leaseSeconds: 3, waitSeconds: 20 });
  await client.lease("default", { workerId: "w", leaseSeconds: 60, waitSeconds: 5 });
  const waits = server.requests.map(({ body }) => (JSON.parse(body) as { wait_seconds: number }).wait_seconds);
  expect(waits).toEqual([1, 5]);
});

test("an absent server is a network error that knows nothing was done", async () => {
  const { client, server } = await clientOf([], { retries: 1 });
  await server.close();
  const error = await client.lease("default", { workerId: "w" }).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(NetworkError);
  expect(error).toMatchObject({ refused: true, message: expect.stringContaining("ECONNREFUSED") });
});

test("a server that never answers is a timeout, and an abort rejects with the caller's reason", async () => {
  const never = new Promise<Answer>(() => {});
  const server = await httpReceiver(() => never);
  onTestFinished(() => server.close());
  const client = createClient({ url: server.url, timeoutMs: 30, retries: 0 });
  await expect(client.get("17")).rejects.toThrow("GET /v1/jobs/17: no response within 30 ms");
  await expect(client.get("17")).rejects.toThrow(TimeoutError);
  const stop = new AbortController();
  const call = client.get("17", { timeoutMs: 60_000, signal: stop.signal });
  stop.abort(new Error("the user left"));
  await expect(call).rejects.toThrow("the user left");
});

test("what leases is answered within a third of the lease, or an earlier deadline", { tags: ["slow"] }, async () => {
  const never = new Promise<Answer>(() => {});
  const server = await httpReceiver(() => never);
  onTestFinished(() => server.close());
  const patient = createClient({ url: server.url, retries: 0 });
  const next = { worker_id: "w", lease_seconds: 4 };
  const lease = { workerId: "w", leaseSeconds: 4 };
  const third = /no response within 1333/;
  const hasty = createClient({ url: server.url, retries: 0, timeoutMs: 30 });
  const told = Promise.withResolvers<unknown>();
  const worker = hasty.work("q", () => {}, {
    waitSeconds: 0,
    observe: (event) => event.event === "api_unavailable" && told.resolve(event.error),
  });
  onTestFinished(() => worker.stop({ deadlineMs: 0 }));
  await Promise.all([
    expect(patient.lease("q", lease)).rejects.toThrow(third),
    expect(patient.settle({ acks: [], next })).rejects.toThrow(third),
    expect(patient.lease("q", lease, { timeoutMs: 40 })).rejects.toThrow("no response within 40 ms"),
    expect(hasty.lease("q", lease)).rejects.toThrow("no response within 30 ms"),
    expect(told.promise).resolves.toMatchObject({ message: expect.stringContaining("no response within 30 ms") }),
  ]);
});

test("the deadline holds for a fetch that does not listen to its signal", async () => {
  const client = createClient({
    url: "http://localhost",
    fetch: () => new Promise(() => {}),
    timeoutMs: 20,
    retries: 0,
  });
  await expect(client.get("17")).rejects.toThrow(TimeoutError);
});

test("a refusal whose text never comes is a timeout, for what is streamed too", async () => {
  const fetch = async () => new Response(new ReadableStream(), { status: 503 });
  const client = createClient({ url: "http://localhost", fetch, timeoutMs: 30, retries: 0 });
  const asked = [client.get("17"), client.submitStream([{ type: "a" }]).next(), client.stats.events().next()];
  await Promise.all(asked.map((answer) => expect(answer).rejects.toThrow(TimeoutError)));
});

test("the token is sent, and appears in no error", async () => {
  const token = "aq_secret-1";
  const detail = `the token ${token} is unknown`;
  const refused = json(401, { type: "/problems/unauthorized", title: "No", status: 401, detail, instance: "r-1" });
  const { client, server } = await clientOf([refused], { token });
  const error = await client.get("17").catch((thrown: unknown) => thrown);
  expect(server.requests[0]?.headers.authorization).toBe(`Bearer ${token}`);
  expect(error).toBeInstanceOf(AuthError);
  expect(error).toMatchObject({ status: 401, requestId: "r-1" });
  expect(JSON.stringify([String(error), error])).not.toContain(token);
  expect(() => createClient({ url: "http://localhost", token: "aq_\nsecret" })).toThrow(/^token must be printable/);
  expect(() => createClient({ url: "http://me:secret@localhost" })).toThrow(/^url must be without a user/);
  expect(() => createClient({ url: "localhost:8000" })).toThrow(/^url must be an http/);
  expect(() => createClient({ url: "http://localhost?x=1" })).toThrow(/^url must be without a query/);
});

test("a gateway's page is an error with its status", async () => {
  const { client } = await clientOf([{ status: 502, body: "<html>Bad gateway</html>" }], { retries: 0 });
  await expect(client.get("17")).rejects.toThrow("GET /v1/jobs/17: 502 Bad Gateway");
});

test("a redirect is not followed: a POST would become a GET", async () => {
  const { client, server } = await clientOf([{ status: 301, headers: { location: "/elsewhere" } }], { retries: 0 });
  await expect(client.submit({ type: "a" })).rejects.toThrow(/redirect/);
  expect(server.requests).toHaveLength(1);
});

test("a path before /v1 is kept, and a name is one segment of the path", async () => {
  const { client, server } = await clientOf([json(200, { jobs: [] })]);
  const below = createClient({ url: `${server.url}/queue/` });
  await below.lease("a:b", { workerId: "w" });
  await client.get("a/../b?c");
  expect(server.requests.map(({ path }) => path)).toEqual(["/queue/v1/queues/a%3Ab/lease", "/v1/jobs/a%2F..%2Fb%3Fc"]);
  await expect(client.get("..")).rejects.toThrow("not an id");
  await expect(client.get("")).rejects.toThrow("not an id");
});

test("https:// to a server that speaks plain HTTP is explained in our words, not OpenSSL's", async () => {
  const server = await httpReceiver(() => json(200, job));
  onTestFinished(() => server.close());
  const client = createClient({ url: server.url.replace("http:", "https:"), retries: 0 });
  const error: unknown = await client.get("17").catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(NetworkError);
  expect(String(error)).toContain("is its URL http:// and not https://?");
  expect(String(error)).not.toMatch(/openssl|SSL routines|\.c:/i);
});
