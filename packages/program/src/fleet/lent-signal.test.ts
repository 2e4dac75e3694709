import { spawn } from "node:child_process";
import type { Duplex } from "node:stream";
import { afterAll, expect, test } from "vitest";
import { ipcSignal, SignalUnavailableError, type IpcSignal } from "@atlasqueue/core/internal";
import { openChannel } from "../process-channel.ts";

/** Another process that answers each call with true, except those for turns named "silence". */
const answering = `
  const { Socket } = require("node:net");
  const pipe = new Socket({ fd: 3, readable: true, writable: true });
  let rest = "";
  pipe.on("data", (text) => {
    const lines = (rest + text).split("\\n");
    rest = lines.pop();
    for (const line of lines) {
      const { id, call } = JSON.parse(line);
      if (call.given[0] !== "silence") pipe.write(JSON.stringify({ signal: "answer", id, value: true }) + "\\n");
    }
  });
  pipe.on("close", () => process.exit());`;
const answer_ms_max = 300;
const other = spawn(process.execPath, ["-e", answering], { stdio: ["ignore", "inherit", "inherit", "pipe"] });
let signal: IpcSignal | undefined = undefined;
const channel = openChannel(other.stdio[3] as Duplex, { hear: (message) => void signal?.hear(message) });
signal = ipcSignal(channel, answer_ms_max);
const heard = signal;
afterAll(() => void other.kill());

function burn(ms: number): void {
  for (const end = performance.now() + ms; performance.now() < end;);
}

test("an answer waiting in the pipe while this process is busy counts, even after its time", async () => {
  // Until the other process runs, which may take longer than an answer.
  await expect.poll(() => heard.takeTurn("warm", 1).catch(() => false), { timeout: 20_000 }).toBe(true);
  for (let at = 0; at < 3; at += 1) {
    const turn = heard.takeTurn("sweep", 1_000);
    await new Promise((resolve) => setImmediate(resolve));
    burn(answer_ms_max * 3);
    expect(await turn).toBe(true);
  }
});

test("an unanswered call ends at its deadline", async () => {
  await expect(heard.takeTurn("silence", 1_000)).rejects.toBeInstanceOf(SignalUnavailableError);
});
