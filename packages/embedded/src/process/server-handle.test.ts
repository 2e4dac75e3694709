import { expect, onTestFinished, test, vi } from "vitest";
import { serverHandle, type ServerNews } from "./server-handle.ts";
import type { ServerProcess } from "./server-process.ts";

/** A server that ends when told. */
function fakeServer() {
  const exited = Promise.withResolvers<void>();
  let is_over = false;
  const end = () => {
    is_over = true;
    exited.resolve();
  };
  const server: ServerProcess = {
    pid: 1,
    exited: exited.promise,
    hasExited: () => is_over,
    signal: () => {
      end();
      return true;
    },
    lastWords: async () => "out of memory",
  };
  return { server, end };
}

test("a server that dies as soon as it runs, or does not start, is started each five seconds, until it is stopped", async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const news: ServerNews["kind"][] = [];
  const starts: number[] = [];
  const began_at = performance.now();
  const first = fakeServer();
  const handle = serverHandle({
    first: first.server,
    stopSteps: [{ signal: "SIGTERM", wait_ms: 10 }],
    claim: () => () => {},
    release: () => {},
    onEnd: ({ kind }) => void news.push(kind),
    async start() {
      starts.push(Math.round((performance.now() - began_at) / 1_000));
      if (starts.length === 2) throw new Error("no room");
      const { server, end } = fakeServer();
      end();
      return server;
    },
  });
  first.end();
  await vi.advanceTimersByTimeAsync(21_000);
  expect(starts).toEqual([5, 10, 15, 20]);
  expect(news.slice(0, 5)).toEqual(["ended", "started", "ended", "not_started", "started"]);
  await handle.stop();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(starts).toHaveLength(4);
});
