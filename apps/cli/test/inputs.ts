import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { closeSync, constants, openSync, writeFileSync, writeSync } from "node:fs";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { dataFolder } from "./run-start.ts";

/** For a process's stdin, and what writes to it. */
export async function socketPair(): Promise<{ stdin: Socket; writer: Socket }> {
  // What comes is for the process to read.
  const server = createServer({ pauseOnConnect: true }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const writer = connect((server.address() as AddressInfo).port, "127.0.0.1");
  const [stdin] = (await once(server, "connection")) as [Socket];
  server.close();
  onTestFinished(() => void [stdin, writer].map((socket) => socket.destroy()));
  return { stdin, writer };
}

/** The path of a file with these lines. */
export function ndjson(...lines: string[]): string {
  const folder = dataFolder();
  onTestFinished(folder.remove);
  const path = join(folder.path, "jobs.ndjson");
  writeFileSync(path, lines.map((line) => `${line}\n`).join(""));
  return path;
}

/** A named pipe that a writer keeps open. */
export function namedPipe(): { path: string; write(text: string): void; end(): void } {
  const folder = dataFolder();
  const path = join(folder.path, "jobs.pipe");
  execFileSync("mkfifo", [path]);
  // For reading too: a writer alone would wait here for the reader.
  const fd = openSync(path, constants.O_RDWR);
  let open = true;
  const end = () => {
    if (open) closeSync(fd);
    open = false;
  };
  onTestFinished(() => {
    end();
    folder.remove();
  });
  return { path, write: (text) => void writeSync(fd, text), end };
}
