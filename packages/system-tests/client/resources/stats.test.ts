import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { eventually, forFile } from "@atlasqueue/harness";
import { expect, onTestFinished, test } from "vitest";
import { clientOf, testApi } from "../test-api.ts";
import { AtlasQueueError, createClient, ValidationError, type LiveEvent } from "@atlasqueue/client";

const api = forFile(testApi);
const client = clientOf(api, { retries: 0 });

const finishOne = async (queue: string) => {
  const { id } = await client.submit({ type: "a", queue });
  const [held] = await client.lease(queue, { workerId: "by-hand", waitSeconds: 10 });
  if (held) await client.ack(held);
  return id;
};

test("what happened is in the series soon, and in the overview at once", { tags: ["slow"] }, async () => {
  await finishOne("mails");
  expect(await client.stats.overview()).toMatchObject({
    counts: { succeeded: 1 },
    problems: [],
    workers: { count: 0 },
  });
  await eventually(async () => {
    const { total, items } = await client.stats.series({ window: "15m", queue: "mails", type: "a" });
    expect(items).toHaveLength(15);
    expect(total).toMatchObject({ submitted: 1, succeeded: 1, run: { count: 1 } });
  });
  const wrong = client.stats.series({ window: "1y" as "1h" });
  await expect(wrong).rejects.toBeInstanceOf(ValidationError);
});

test("events come as they happen, until the caller has had enough", async () => {
  const heard: LiveEvent[] = [];
  const stop = new AbortController();
  const listening = (async () => {
    for await (const event of client.stats.events({ queues: ["live"] }, { signal: stop.signal })) heard.push(event);
  })();
  await eventually(() => expect(heard).toMatchObject([{ event: "counts", data: { queues: [{ queue: "live" }] } }]));
  const id = await finishOne("live");
  await eventually(() =>
    expect(heard.flatMap(({ event, data }) => (event === "finished" ? data.items : []))).toMatchObject([{ id }]),
  );
  stop.abort();
  await listening;
});

test("leaving the loop ends the connection", async () => {
  for await (const event of client.stats.events()) {
    expect(event.event).toBe("counts");
    break;
  }
  const refused = client.stats.events({ queues: ["not a name"] }).next();
  await expect(refused).rejects.toBeInstanceOf(ValidationError);
});

test("listening ends with the server's word when it stops, and a lost connection is an error", async () => {
  const own = await testApi();
  const heard: LiveEvent[] = [];
  const listening = (async () => {
    for await (const event of createClient({ url: own.url }).stats.events()) heard.push(event);
  })();
  await eventually(() => expect(heard).not.toHaveLength(0));
  await own.close();
  await listening;
  expect(heard.at(-1)).toEqual({ event: "end", data: { reason: "draining" } });

  const cut = createServer((_request, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write('retry: 3000\n\nevent: later\ndata: {"x":1}\n\nevent: end\nda', () =>
      setImmediate(() => response.destroy()),
    );
  });
  await new Promise<void>((resolve) => cut.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void cut.close());
  const url = `http://127.0.0.1:${(cut.address() as AddressInfo).port}`;
  // What this client does not know is left out, and half an event is none.
  await expect(createClient({ url }).stats.events().next()).rejects.toBeInstanceOf(AtlasQueueError);
});
