import { randomUUID } from "node:crypto";
import { eventually, forFile } from "@atlasqueue/harness";
import { expect, test } from "vitest";
import { clientOf, testApi } from "../test-api.ts";
import { ConflictError, createClient, NetworkError } from "@atlasqueue/client";

const api = forFile(testApi);
const client = clientOf(api);

/** A client that does not hear the first answer to such a path; the API has done what it tells of. */
function deaf(path: string, options: { retries?: number } = {}) {
  let is_lost = false;
  return createClient({
    ...options,
    url: api.url,
    async fetch(input, init) {
      const answer = await fetch(input, init);
      if (is_lost || !String(input).endsWith(path)) return answer;
      is_lost = true;
      await answer.arrayBuffer();
      throw Object.assign(new TypeError("fetch failed"), { cause: Object.assign(new Error(), { code: "ECONNRESET" }) });
    },
  });
}
const submit = async (queue: string, count = 1, fields: { group?: string } = {}) =>
  (
    await client.submitMany(Array.from({ length: count }, () => ({ type: "a", queue, max_attempts: 1, ...fields })))
  ).map(({ id }) => id);
const released = (id: string) =>
  eventually(async () => expect(await client.get(id)).toMatchObject({ status: "queued", attempts: 0 }));

test("a lease whose answer was lost has the same jobs when it is tried again", async () => {
  const ids = await submit("lost", 3);
  const leased = await deaf("/lease").lease("lost", { workerId: "w", maxJobs: 2 });
  expect(leased).toMatchObject(ids.slice(0, 2).map((id) => ({ job: { id, attempts: 1 } })));
  expect(await client.lease("lost", { workerId: "w", maxJobs: 10 })).toMatchObject([{ job: { id: ids[2] } }]);
});

test("so has a settlement with `next`", async () => {
  const [first = "", next] = await submit("run", 3, { group: "g" });
  const [held] = await client.lease("run", { workerId: "w" });
  const acks = [{ id: first, lease_token: held?.lease_token ?? "" }];
  expect(await deaf("/settle").settle({ acks, next: { worker_id: "w" } })).toMatchObject({
    acks: [{ outcome: "succeeded" }],
    next: [{ job: { id: next, attempts: 1 } }],
  });
});

test("a caller may repeat a failed call with its leaseToken; another worker's or queue's is a conflict", async () => {
  const [id] = await submit("own");
  const options = { workerId: "w", leaseToken: randomUUID() };
  await expect(deaf("/lease", { retries: 0 }).lease("own", options)).rejects.toThrow(NetworkError);
  expect(await client.lease("own", options)).toMatchObject([{ job: { id, attempts: 1 } }]);
  await expect(client.lease("own", { ...options, workerId: "other" })).rejects.toThrow(ConflictError);
  await expect(client.lease("other", options)).rejects.toThrow("for queue own");
});

test("a call without one that fails, or is aborted, releases what it leased", async () => {
  const [id = ""] = await submit("failed");
  await expect(deaf("/lease", { retries: 0 }).lease("failed", { workerId: "w" })).rejects.toThrow(NetworkError);
  await released(id);
  const stop = new AbortController();
  const slow = createClient({
    url: api.url,
    async fetch(input, init) {
      if (!String(input).endsWith("/lease")) return fetch(input, init);
      // The API has answered and heard of no hang-up.
      const answer = await fetch(input, { ...init, signal: null });
      expect(await client.get(id)).toMatchObject({ status: "running" });
      stop.abort(new Error("enough"));
      return answer;
    },
  });
  await expect(slow.lease("failed", { workerId: "w" }, { signal: stop.signal })).rejects.toThrow("enough");
  await released(id);
});
