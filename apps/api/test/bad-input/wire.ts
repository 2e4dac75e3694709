import { rawSocket } from "../raw-socket.ts";
import type { Sent } from "./row.ts";

export type Answered = { status: number; headers: Headers; body: string };

/** Sends it byte for byte, and reads until the server hangs up. */
export async function overTheWire(port: number, { method, target, headers, body }: Sent): Promise<Answered> {
  // As Node and browsers write headers: one byte a character.
  const lines = [`${method} ${target} HTTP/1.1`, "Host: localhost", "Connection: close", ...headers];
  const sized = headers.some((line) => /^(content-length|transfer-encoding):/i.test(line));
  if (body !== undefined && body.length > 0 && !sized) lines.push(`Content-Length: ${Buffer.byteLength(body)}`);
  const socket = await rawSocket(port);
  socket.write(Buffer.from(`${lines.join("\r\n")}\r\n\r\n`, "latin1"));
  if (body !== undefined) socket.write(body);
  return parseAnswer(await socket.answer);
}

/** One answer as it came, the whole of it. */
export function parseAnswer(text: string): Answered {
  const end = text.indexOf("\r\n\r\n");
  const [statusLine = "", ...lines] = text.slice(0, end).split("\r\n");
  const headers = new Headers(
    lines.map((line): [string, string] => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 1).trim()]),
  );
  return { status: Number(statusLine.split(" ")[1]), headers, body: text.slice(end + 4) };
}
