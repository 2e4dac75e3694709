import { once } from "node:events";
import { createServer, request as ask, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as delay } from "node:timers/promises";

/** A request for a lease: which token it named, and when its response was delivered, if it was. */
type Asked = { token: string; delivered_at: number | undefined };

export type UnreliableProxy = {
  readonly url: string;
  /** How many requests met each fate. */
  readonly fates: Record<Fate, number>;
  readonly asked: readonly Asked[];
  close(): Promise<void>;
};

/** Of a hundred requests. The rest pass. */
const per_hundred = { unsent: 5, cut: 8, swallowed: 8, delayed: 9 } as const;
type Fate = keyof typeof per_hundred | "passed";
const delay_ms_max = 4_000;

/**
 * An HTTP proxy that breaks requests at random: it cuts the connection before the server has the request or after the
 * server has answered, never answers, or answers late.
 *
 * @example
 * const proxy = await unreliableProxy(api.url, Math.random);
 */
export async function unreliableProxy(server_url: string, random: () => number): Promise<UnreliableProxy> {
  const fates: Record<Fate, number> = { unsent: 0, cut: 0, swallowed: 0, delayed: 0, passed: 0 };
  const asked: Asked[] = [];
  const choose = (): Fate => {
    let left = random() * 100;
    for (const [fate, share] of Object.entries(per_hundred)) if ((left -= share) < 0) return fate as Fate;
    return "passed";
  };
  const serve = async (from: IncomingMessage, to: ServerResponse): Promise<void> => {
    const fate = choose();
    fates[fate] += 1;
    if (fate === "unsent") return void to.socket?.resetAndDestroy();
    const body = await read(from);
    const { lease_token } = from.url?.endsWith("/lease") ? (JSON.parse(body) as { lease_token?: string }) : {};
    const noted: Asked | undefined =
      lease_token === undefined ? undefined : { token: lease_token, delivered_at: undefined };
    if (noted) asked.push(noted);
    const answer = await forward(server_url, from, body);
    if (fate === "swallowed") return;
    if (fate === "cut") return void to.socket?.resetAndDestroy();
    if (fate === "delayed") await delay(random() * delay_ms_max, undefined, { ref: false });
    to.on("finish", () => noted && (noted.delivered_at = Date.now()));
    if (to.socket?.destroyed === false)
      to.writeHead(answer.status, { "content-type": "application/json" }).end(answer.text);
  };
  const server = createServer((from, to) => {
    serve(from, to).catch(() => to.destroy());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    fates,
    asked,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function forward(
  server_url: string,
  { method, url, headers }: IncomingMessage,
  body: string,
): Promise<{ status: number; text: string }> {
  const sent = ask(`${server_url}${url}`, { method, headers: { ...headers, connection: "close" } });
  sent.end(body);
  const [answer] = (await once(sent, "response")) as [IncomingMessage];
  return { status: answer.statusCode ?? 0, text: await read(answer) };
}

async function read(message: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of message.setEncoding("utf8")) text += String(chunk);
  return text;
}
