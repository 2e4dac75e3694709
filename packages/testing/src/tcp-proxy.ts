import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";

export type TcpProxy = {
  readonly port: number;
  /** The server's URL with the proxy's address in place of the server's. */
  readonly url: string;
  /** Connections that are open now. */
  connections(): number;
  /** Connections accepted so far. */
  accepted(): number;
  /**
   * From now on nothing passes, silently: what is written is swallowed, connections stay open, new ones are accepted
   * and never answered. As with lost packets, or a firewall that forgot the connection. One way only, what goes the
   * other way still arrives: with `"answers"` lost, the server does what it is asked and the client gets no response.
   */
  blackhole(lost?: Lost): void;
  /** Cut all connections with a reset, those with only the server at their end too. New ones are served. */
  reset(): void;
  /** Cut all connections and reset every new one at once, until `heal`. */
  refuse(): void;
  /** New connections are served again. Those from a black hole stay dead: bytes are missing in them. */
  heal(): void;
  /** Let this many more bytes of the server's answers through, over all connections, then reset the current one. */
  cutAnswersAfter(bytes: number): void;
  /** The same for what the clients send. */
  cutQuestionsAfter(bytes: number): void;
  /** Cut the connection that is answered with this text next, in place of that answer: `"COMMIT\0"` is PostgreSQL's. */
  cutAnswerWith(text: string): void;
  /**
   * Let this many more chunks from the clients through, then read nothing more from either side, as when the clients'
   * process stands still. New connections are served. Resolves when it stands still.
   */
  freezeAfterQuestions(chunks: number): Promise<void>;
  /**
   * Replaces what the server answers, chunk by chunk, with what this returns for it (in latin1, so that bytes stay
   * bytes).
   */
  alterAnswers(alter: (text: string) => string): void;
  /**
   * What the clients send passes in these pieces, each of them a chunk to `freezeAfterQuestions`, however the network
   * carried it.
   */
  splitQuestions(split: (chunk: Buffer) => Buffer[]): void;
  /** From now on data takes this long each way, on open connections too, as over a long cable. */
  delay(ms: number): void;
  /** New connections go there, as when a name moves; open ones stay where they are. */
  pointAt(url: string): void;
  close(): Promise<void>;
};

/** What a black hole swallows. */
type Lost = "both" | "questions" | "answers";

type Pair = { client: Socket; server: Socket | undefined; lost: Lost | undefined; frozen?: boolean };

/**
 * A proxy on 127.0.0.1 in front of a test's server, to break the network between them.
 *
 * @example
 * const proxy = await tcpProxy(redisUrl());
 * const signal = redisSignal({ url: proxy.url, keys });
 * proxy.blackhole();
 */
export async function tcpProxy(server_url: string): Promise<TcpProxy> {
  let target = new URL(server_url);
  let refused = false;
  let lost: Lost | undefined;
  let cutAt: string | undefined;
  let accepted = 0;
  let delay_ms = 0;
  let questions_left = Infinity;
  let toldFrozen = (): void => {};
  const bytes_left = { questions: Infinity, answers: Infinity };
  let alter: ((text: string) => string) | undefined;
  let split = (chunk: Buffer): Buffer[] => [chunk];
  const pairs = new Set<Pair>();
  /** Connections whose other side is gone without their knowing. */
  const stranded = new Set<Socket>();

  const cut = (pair: Pair) => {
    pairs.delete(pair);
    pair.client.resetAndDestroy();
    pair.server?.resetAndDestroy();
  };
  const cutAll = () => {
    for (const pair of pairs) cut(pair);
    for (const socket of stranded) socket.resetAndDestroy();
    stranded.clear();
  };
  const freeze = () => {
    for (const pair of pairs) {
      pair.frozen = true;
      pair.client.pause();
      pair.server?.pause();
    }
    toldFrozen();
  };
  /** A socket without a "data" listener stops reading, and its peer would notice. */
  const carry = (pair: Pair, from: Socket, to: Socket, allowed: (chunk: Buffer) => Buffer) => {
    const after = inOrder(() => delay_ms);
    const way = from === pair.client ? "questions" : "answers";
    const swallowed = () => pair.lost === "both" || pair.lost === way;
    const pass = (read: Buffer) => {
      if (swallowed() || pair.frozen) return;
      if (way === "answers" && cutAt !== undefined && read.includes(cutAt, 0, "latin1")) {
        cutAt = undefined;
        return cut(pair);
      }
      const chunk = way === "answers" && alter ? Buffer.from(alter(read.toString("latin1")), "latin1") : read;
      const passed = allowed(chunk);
      if (passed.length === chunk.length) {
        if (!to.write(passed) && !from.isPaused()) {
          from.pause();
          to.once("drain", () => pair.frozen || from.resume());
        }
        if (way === "questions" && (questions_left -= 1) === 0) freeze();
        return;
      }
      // Written, then ended: a reset would overtake the bytes still to arrive.
      pairs.delete(pair);
      to.end(passed, () => to.resetAndDestroy());
      from.resetAndDestroy();
    };
    from.on("data", (read) =>
      after(() => {
        for (const piece of way === "questions" ? split(read) : [read]) pass(piece);
      }),
    );
    from.on("end", () => after(() => swallowed() || to.end()));
    from.on("error", () => swallowed() || cut(pair));
    from.on("close", () => {
      pairs.delete(pair);
      after(() => (swallowed() ? stranded.add(to) : to.destroy()));
    });
  };
  const metered = (way: keyof typeof bytes_left) => (chunk: Buffer) => {
    const passed = chunk.subarray(0, Math.min(chunk.length, bytes_left[way]));
    bytes_left[way] -= passed.length;
    if (passed.length < chunk.length) bytes_left[way] = Infinity;
    return passed;
  };

  const listener = createServer({ allowHalfOpen: true, noDelay: true }, (client) => {
    accepted += 1;
    if (refused) return void client.resetAndDestroy();
    const pair: Pair = { client, server: undefined, lost };
    pairs.add(pair);
    if (lost === "both") {
      client.on("data", () => {});
      client.on("error", () => pairs.delete(pair));
      client.on("close", () => pairs.delete(pair));
      return;
    }
    const server = connect({ host: target.hostname, port: Number(target.port), noDelay: true, allowHalfOpen: true });
    pair.server = server;
    carry(pair, client, server, metered("questions"));
    carry(pair, server, client, metered("answers"));
  });
  listener.listen(0, "127.0.0.1");
  await once(listener, "listening");
  const { port } = listener.address() as AddressInfo;
  const url = new URL(server_url);
  url.host = `127.0.0.1:${port}`;

  return {
    port,
    url: url.href,
    connections: () => pairs.size,
    accepted: () => accepted,
    blackhole(way = "both") {
      [lost, refused] = [way, false];
      for (const pair of pairs) pair.lost = way;
    },
    reset: cutAll,
    refuse() {
      [lost, refused] = [undefined, true];
      cutAll();
    },
    heal() {
      [lost, refused] = [undefined, false];
    },
    cutAnswersAfter(bytes) {
      bytes_left.answers = bytes;
    },
    cutAnswerWith(text) {
      cutAt = text;
    },
    cutQuestionsAfter(bytes) {
      bytes_left.questions = bytes;
    },
    freezeAfterQuestions(chunks) {
      questions_left = chunks;
      return new Promise((resolve) => (toldFrozen = resolve));
    },
    alterAnswers(next) {
      alter = next;
    },
    splitQuestions(next) {
      split = next;
    },
    delay(ms) {
      delay_ms = ms;
    },
    pointAt(next_url) {
      target = new URL(next_url);
    },
    async close() {
      cutAll();
      await new Promise((resolve) => listener.close(resolve));
    },
  };
}

/** Does things after the delay in force when they are given, in the order given; at once without a delay. */
function inOrder(delay_ms: () => number): (act: () => unknown) => void {
  const line: { at: number; act: () => unknown }[] = [];
  const next = () => {
    while (line[0] && line[0].at <= performance.now()) line.shift()?.act();
    if (line[0]) setTimeout(next, Math.max(0, line[0].at - performance.now()));
  };
  return (act) => {
    if (delay_ms() === 0 && line.length === 0) return void act();
    line.push({ at: performance.now() + delay_ms(), act });
    if (line.length === 1) next();
  };
}
