import { fileURLToPath } from "node:url";
import { eventually, ownRedis, postgresUrl, spawnProcess, tlsRedis } from "@atlasqueue/harness";
import { expect, onTestFinished, test } from "vitest";
import { openProxy } from "../../../test/opened.ts";
import { newKeys, openSignal } from "../../../test/working-signal.ts";
import { redisSignal } from "./signal.ts";

const unused = fileURLToPath(new URL("../../../test/unused-queue.ts", import.meta.url));

async function proxied() {
  const redis = await ownRedis();
  onTestFinished(() => redis.stop());
  return openProxy(redis.url);
}

test("Redis is dialled at the first use", async () => {
  const proxy = await proxied();
  const signal = openSignal({ url: proxy.url });
  await redisSignal({ url: proxy.url, keys: newKeys() }).close();
  expect(signal.state()).toBe("down");
  expect(proxy.accepted()).toBe(0);
  await signal.check();
  expect(signal.state()).toBe("up");
  expect(proxy.accepted()).toBe(1);
});

test.each(["used", "away"])("a queue that is %s and not closed keeps no process alive", async (how) => {
  const { url } = await proxied();
  const redis = how === "away" ? "redis://127.0.0.1:1" : url;
  const program = await spawnProcess(unused, { args: [postgresUrl(), redis, how] });
  expect(await program.waitForExit(10_000)).toEqual({ code: 0, signal: null });
  expect(program.lines).toEqual([how]);
});

test("why there is no connection is in each error, right after a command that failed for it too", async () => {
  const redis = await tlsRedis();
  onTestFinished(() => redis.stop());
  const signal = openSignal({ url: redis.url, timeoutMs: 500 });
  await eventually(() => expect(signal.check()).rejects.toThrow("self-signed certificate in certificate chain"));
  for (let again = 0; again < 3; again += 1)
    await expect(signal.takeTurn("a", 1)).rejects.toThrow("self-signed certificate in certificate chain");
});
