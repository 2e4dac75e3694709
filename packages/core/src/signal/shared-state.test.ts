import { eventually } from "@atlasqueue/harness";
import { expect, test } from "vitest";
import { presence_ttl_ms, workers_max, type WorkerPresence } from "./presence.ts";
import { withEachSignal } from "../../test/signal-drivers.ts";

const presence = (id: string): WorkerPresence => ({
  id,
  tenant: "default",
  host: "h",
  pid: 1,
  queues: ["default"],
  handlers: ["noop"],
  concurrency: 10,
  active: 0,
  state: "running",
  lease_seconds: 30,
});

withEachSignal((start) => {
  test("notices reach the listeners of their topic until they stop listening", async () => {
    const signal = start();
    const heard: string[] = [];
    const stop = signal.notices.listen("finished", (ids) => void heard.push(...ids));
    // A listener may be subscribed a moment after it asked.
    await eventually(async () => {
      await signal.notices.tell("cancelled", ["b"]);
      await signal.notices.tell("finished", ["a"]);
      expect(new Set(heard)).toEqual(new Set(["a"]));
    });
    stop();
    const before = heard.length;
    await signal.notices.tell("finished", ["a"]);
    expect(heard.length).toBe(before);
  });

  test("lists the workers of a tenant that announced themselves, until they withdraw", async () => {
    const signal = start();
    const a = presence("a");
    await signal.presence.announce(presence("b"));
    await signal.presence.announce({ ...a, active: 1 });
    await signal.presence.announce({ ...a, active: 2, state: "draining" });
    await signal.presence.announce({ ...a, tenant: "acme" });
    const listed = await signal.presence.list("default");
    expect(listed).toMatchObject([{ ...a, active: 2, state: "draining" }, presence("b")]);
    expect(Math.abs(Date.now() - (listed[0]?.last_seen.getTime() ?? 0))).toBeLessThan(presence_ttl_ms);
    await signal.presence.withdraw(a);
    expect((await signal.presence.list("default")).map(({ id }) => id)).toEqual(["b"]);
    expect((await signal.presence.list("acme")).map(({ id }) => id)).toEqual(["a"]);
  });

  test("records a limited number of a tenant's workers, and keeps hearing those it has", async () => {
    const signal = start();
    // All at once, as the first ones would be forgotten within seconds.
    await Promise.all(Array.from({ length: workers_max }, (_, at) => signal.presence.announce(presence(`w-${at}`))));
    await signal.presence.announce(presence("one too many"));
    await signal.presence.announce({ ...presence("w-0"), active: 7 });
    const listed = await signal.presence.list("default");
    expect(listed).toHaveLength(workers_max);
    expect(listed.find(({ id }) => id === "w-0")).toMatchObject({ active: 7 });
  });

  test("gives a turn to one caller in each period", async () => {
    const signal = start();
    expect(await signal.takeTurn("sweep", 60_000)).toBe(true);
    expect(await signal.takeTurn("sweep", 60_000)).toBe(false);
    expect(await signal.takeTurn("other", 60_000)).toBe(true);
  });

  test("draws permits for wishes in their order, and says when the refused ones may come again", async () => {
    const signal = start();
    const rate = { limit: 10, period_ms: 60_000 };
    expect(await signal.takePermits("acme", [4, 7, 6], rate)).toEqual([
      { allowed: true, remaining: 6, reset_ms: 24_000, retry_after_ms: 0 },
      { allowed: false, remaining: 6, reset_ms: 24_000, retry_after_ms: 6_000 },
      { allowed: true, remaining: 0, reset_ms: 60_000, retry_after_ms: 0 },
    ]);
    const [apart] = await signal.takePermits("other", [10], rate);
    expect(apart?.allowed).toBe(true);
  });

  test("restores permits as time goes by", async () => {
    const signal = start();
    const rate = { limit: 10, period_ms: 500 };
    await signal.takePermits("acme", [10], rate);
    const [first] = await signal.takePermits("acme", [5], rate);
    expect(first?.allowed).toBe(false);
    await eventually(async () => (await signal.takePermits("acme", [10], rate))[0]?.allowed === true);
  });
});
