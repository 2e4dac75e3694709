import { Socket } from "node:net";
import type { Duplex } from "node:stream";

/** Where a child finds its end: the first descriptor after stdin, stdout and stderr. Start it with four pipes. */
const channel_fd = 3;
/** For one message. Payloads and results are far smaller; ten thousand job ids fit. */
const message_chars_max = 16 * 1024 * 1024;
/** With this many waiting, offers are dropped. */
const offered_max = 1_000;

export type Channel = ReturnType<typeof openChannel>;

export type ChannelEnds = {
  /** A JSON value, or undefined for a line that is none. Nothing more is known: the other end may send anything. */
  hear(message: unknown): void;
  /** Nothing more will come, or a message was too long. Called once. */
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
export function openChannel(pipe: Duplex, { hear, closed }: ChannelEnds) {
  let parts: string[] = [];
  let chars = 0;
  pipe.setEncoding("utf8");
  pipe.on("data", (text: string) => {
    const [first = "", ...lines] = text.split("\n");
    parts.push(first);
    for (const line of lines) {
      const whole = parts.join("");
      if (whole !== "") hear(parse(whole));
      parts = [line];
      chars = 0;
    }
    chars += parts.at(-1)?.length ?? 0;
    if (chars > message_chars_max) pipe.destroy();
  });
  // Reset, broken, closed under our feet: it is gone either way, and `close` follows.
  pipe.on("error", () => {});
  pipe.once("close", () => closed?.());
  pipe.once("end", () => pipe.destroy());
  // Node cannot write a million pieces at once: those that wait for the other end to read are written as one.
  let waiting: string[] = [];
  const writeAll = (): void => {
    if (waiting.length > 0 && pipe.writable) pipe.write(waiting.join(""));
    waiting = [];
  };
  pipe.on("drain", writeAll);
  const send = (message: unknown): void => {
    if (!pipe.writable) return;
    waiting.push(`${JSON.stringify(message)}\n`);
    if (!pipe.writableNeedDrain) writeAll();
  };
  return {
    /** One JSON value. Goes nowhere when the other side is gone, which `closed` reports. */
    send,
    /** The same for what may be lost: dropped while the other end does not read. */
    offer: (message: unknown) => void (waiting.length < offered_max && send(message)),
    /** Whether it keeps this process alive. */
    ref: () => void (pipe instanceof Socket && pipe.ref()),
    unref: () => void (pipe instanceof Socket && pipe.unref()),
    /** Resolves when everything sent has left this process. */
    async end(): Promise<void> {
      writeAll();
      await new Promise<void>((resolve) => (pipe.writable ? pipe.end(resolve) : resolve()));
    },
  };
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
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
