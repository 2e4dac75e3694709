import { once } from "node:events";
import { request, type ClientRequest, type IncomingMessage, type RequestOptions } from "node:http";
import type { LastLine, RefusedLine, TakenLine } from "@atlasqueue/contract";

type Answer = Partial<TakenLine & RefusedLine & LastLine>;

export const lineTypes = { "content-type": "application/x-ndjson" };

/** A job as a line. */
export const jobLine = (key: string, job: object = {}) =>
  `${JSON.stringify({ type: "a", ...job, idempotency_key: key })}\n`;

/** A client of `POST /v1/jobs/stream` that sends and reads when it is told to. */
export async function lineClient(port: number, options: RequestOptions = {}) {
  const outgoing = request({
    host: "127.0.0.1",
    port,
    method: "POST",
    path: "/v1/jobs/stream",
    agent: false,
    ...options,
    headers: { ...lineTypes, ...(options.headers as object) },
  });
  const failed = new Promise<void>((resolve) => outgoing.on("error", () => resolve()));
  outgoing.flushHeaders();
  const [incoming] = (await once(outgoing, "response")) as [IncomingMessage];
  let text = "";
  let broken = false;
  incoming.on("error", () => (broken = true));
  const closed = new Promise<void>((resolve) => incoming.once("close", resolve));
  const answers = () =>
    text
      .split("\n")
      .slice(0, -1)
      .map((line) => JSON.parse(line) as Answer);
  return {
    status: incoming.statusCode,
    headers: incoming.headers,
    /** Reads whatever comes, from now on. */
    read() {
      incoming.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
      return this;
    },
    /** Resolves when the system has taken it. */
    send: (data: string | Uint8Array) => sendTo(outgoing, data),
    end: () => void outgoing.end(),
    cut: () => void outgoing.destroy(),
    answers,
    last: () => answers().at(-1),
    /** Resolves when the answer has ended, in whichever way. */
    closed,
    /** Resolves when no more can be sent. */
    failed,
    broken: () => broken,
  };
}

function sendTo(outgoing: ClientRequest, data: string | Uint8Array): Promise<void> {
  return new Promise((resolve) => outgoing.write(data, () => resolve()));
}
