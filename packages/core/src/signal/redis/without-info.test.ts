import { redisUrl } from "@atlasqueue/harness";
import { Redis } from "ioredis";
import { expect, onTestFinished, test, vi } from "vitest";
import { main, never } from "../../../test/signal-drivers.ts";
import { openSignal } from "../../../test/working-signal.ts";

test("a user who may not ask INFO can use the signal, and no plain line is printed", async () => {
  const printed = (["log", "warn", "error"] as const).map((name) =>
    vi.spyOn(console, name).mockImplementation(() => {}),
  );
  const admin = new Redis(redisUrl());
  const user = `blind_${process.pid}`;
  await admin.acl("SETUSER", user, "on", ">blind", "~*", "&*", "+@all", "-info");
  onTestFinished(async () => {
    await admin.acl("DELUSER", user);
    admin.disconnect();
  });
  const url = Object.assign(new URL(redisUrl()), { username: user, password: "blind" });
  const signal = openSignal({ url: url.href, timeoutMs: 5_000 });
  onTestFinished(() => void vi.restoreAllMocks());
  expect(await signal.push([{ ...main, id: "one", priority: 0 }])).toBe(1);
  expect((await signal.wait([main], 1_000, never))?.id).toBe("one");
  expect(printed.flatMap(({ mock }) => mock.calls)).toEqual([]);
});
