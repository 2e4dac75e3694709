import { eventually, ownRedis } from "@atlasqueue/harness";
import { Redis } from "ioredis";
import { expect, onTestFinished, test } from "vitest";
import { openSignal, soon } from "../../../test/working-signal.ts";

test("a listener that was not let into a channel hears what is told there once it is", async () => {
  const server = await ownRedis({ password: "secret" });
  onTestFinished(() => server.stop());
  const ask = new Redis(server.url);
  onTestFinished(() => ask.disconnect());
  await ask.call("ACL", "SETUSER", "worker", "on", ">secret", "~*", "+@all", "resetchannels");
  const url = new URL(server.url);
  url.username = "worker";
  const signal = openSignal({ url: url.href, timeoutMs: 1_000 });
  const heard: string[] = [];
  signal.notices.listen("cancelled", (ids) => heard.push(...ids));
  await eventually(async () => expect(String(await ask.call("ACL", "LOG"))).toContain("subscribe"), soon);
  await ask.call("ACL", "SETUSER", "worker", "allchannels");
  await eventually(async () => {
    await signal.notices.tell("cancelled", ["a"]);
    expect(heard).toContain("a");
  }, soon);
});
