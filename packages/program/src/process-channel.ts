import { Socket } from "node:net";
import type { Duplex } from "node:stream";

/** Where a child finds its end: the first descriptor after stdin, stdout and stderr. Start it with four pipes. */
const channel_fd = 3;
/** For one message. Payloads and results are far smaller; ten thousand job ids fit. */
const message_chars_max = 16 * 1024 * 1024;
/** Messages that have waited for the other end to read are written together, until they are as long as this. */
const joined_chars = 64 * 1024;
/** With this many waiting, offers are dropped. */
const offered_max = 1_000;

export type Channel = {
  /** One JSON value. Goes nowhere when the other side is gone, which `closed` reports. */
  send(message: unknown): void;
  /** The same for what may be lost: dropped while the other end does not read. */
  offer(message: unknown): void;
  /** Whether it keeps this process alive. */
  ref(): void;
  unref(): void;
  /** Resolves when everything sent has left this process. */
  end(): Promise<void>;
};

export type ChannelEnds = {
  /** A JSON value, and nothing more is known about it: the other end may send anything. */
  hear(message: unknown): void;
  /** What came is not a message; more may follow. */
  junk?(): void;
  /** Nothing more will come. Called once. */
  closed?(): void;
};

/**
 * Messages between a process and its child, one JSON value per line, through our own pipe. Not Node's IPC: there, a
 * child whose code writes to the channel's descriptor, or sends what its parent did not expect, ends the parent.
 *
 * @example
 * const child = spawn(process.execPath, [file], { stdio: ["ignore", "inherit", "inherit", "pipe"] });
 * const channel = openChannel(child.stdio[3] as Duplex, { hear: (message) => console.log(message) });
 */
export function openChannel(pipe: Duplex, { hear, junk, closed }: ChannelEnds): Channel {
  let parts: string[] = [];
  let chars = 0;
  let skipping = false;
  const end = (line: string): void => {
    if (skipping) return void (skipping = false);
    if (line === "") return;
    let message: unknown;
    try {
      message = JSON.parse(line);
    } catch {
      return junk?.();
    }
    hear(message);
  };
  const keep = (part: string): void => {
    if (skipping || part === "") return;
    chars += part.length;
    parts.push(part);
    if (chars <= message_chars_max) return;
    [parts, chars, skipping] = [[], 0, true];
    junk?.();
  };
  pipe.setEncoding("utf8");
  pipe.on("data", (text: string) => {
    const lines = text.split("\n");
    const last = lines.pop() ?? "";
    for (const line of lines) {
      keep(line);
      const whole = parts.join("");
      [parts, chars] = [[], 0];
      end(whole);
    }
    keep(last);
  });
  // Reset, broken, closed under our feet: it is gone either way, and `close` follows.
  pipe.on("error", () => {});
  pipe.once("close", () => closed?.());
  pipe.once("end", () => pipe.destroy());
  // Node cannot write a million pieces at once, which is what it would make of those that wait.
  const waiting: string[] = [];
  const takeSome = (): string => {
    let count = 0;
    for (let long = 0; count < waiting.length && long < joined_chars; count += 1) long += waiting[count]?.length ?? 0;
    return waiting.splice(0, count).join("");
  };
  const write = (): void => {
    while (waiting.length > 0 && pipe.writable && !pipe.writableNeedDrain) pipe.write(takeSome());
  };
  pipe.on("drain", write);
  const send = (message: unknown): void => {
    if (!pipe.writable) return;
    waiting.push(`${JSON.stringify(message)}\n`);
    write();
  };
  return {
    send,
    offer: (message) => void (waiting.length < offered_max && send(message)),
    ref: () => void (pipe instanceof Socket && pipe.ref()),
    unref: () => void (pipe instanceof Socket && pipe.unref()),
    async end() {
      while (waiting.length > 0 && pipe.writable) pipe.write(takeSome());
      await new Promise<void>((resolve) => (pipe.writable ? pipe.end(resolve) : resolve()));
    },
  };
}

/**
 * The end held by a process that was started with a channel. Throws in any other, which has nothing at that descriptor.
 *
 * @example
 * const parent = parentChannel({ hear, closed: () => process.exit() });
 */
export function parentChannel(ends: ChannelEnds): Channel {
  return openChannel(new Socket({ fd: channel_fd, readable: true, writable: true }), ends);
}
