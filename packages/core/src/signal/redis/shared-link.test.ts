import { redisUrl } from "@atlasqueue/harness";
import { expect, onTestFinished, test } from "vitest";
import { openProxy } from "../../../test/opened.ts";
import { job, main } from "../../../test/signal-drivers.ts";
import { expectAllToWork, newKeys } from "../../../test/working-signal.ts";
import { redisSignals } from "./signal.ts";

test("the signals of several cells share a connection to their Redis, not its keys", async () => {
  const proxy = await openProxy(redisUrl());
  const signalOf = redisSignals();
  const open = () => signalOf({ url: proxy.url, keys: newKeys(), timeoutMs: 5_000 });
  const [one, other] = [open(), open()];
  onTestFinished(() => other.close());
  await one.push([job("a")]);
  expect(await other.take([main], 10)).toMatchObject({ ids: [] });
  expect(await one.take([main], 10)).toMatchObject({ ids: ["a"] });
  expect(proxy.accepted()).toBe(1);
  await one.close();
  await expectAllToWork(other);
});
