import { constants } from "node:crypto";
import { isIP, Socket, type LookupFunction } from "node:net";
import { connect as connectSecurely, DEFAULT_CIPHERS } from "node:tls";
import { pacedSocket } from "./paced-socket.ts";

/** All that is read of what a receiver sends: 1xx answers, the answer, how they are framed, and what TLS adds. */
const bytes_max = 65_536;
/**
 * Of these, until TLS is agreed on: chains of certificates have 2 to 6 KiB, and the names of all the authorities whose
 * certificates a server would take another 15; to check a KiB of certificates may take 15 ms.
 */
const handshake_bytes_max = 24_576;
/** A smaller read counts as one of this size, as it costs no less: 1,024 tiny pieces are too much, too. */
const bytes_of_read_min = 64;

export type BoundedSocketOptions = {
  lookup: LookupFunction;
  /** The bound is reached, and what was read has been parsed. The socket is to be destroyed now. */
  tooMuch: () => void;
  /** Has the work that TLS makes of what was read done in its turn; what it returns drops the work. */
  take: (work: () => void) => () => void;
};

/**
 * A connection to a URL's host that says when it has read too much. Node bounds a head, a chunk's extensions and the
 * trailers, but not how many 1xx answers and empty lines come before the head, nor the body, nor TLS's own messages: a
 * receiver that sends without end would keep everything else in the process from running.
 *
 * @example
 * http.request(url, { createConnection: () => boundedSocket(url, { lookup, take, tooMuch: () => sent.destroy() }) });
 */
export function boundedSocket(url: URL, { lookup, tooMuch, take }: BoundedSocketOptions): Socket {
  const is_secure = url.protocol === "https:";
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const plain = new Socket().setNoDelay();
  plain.connect({ host, port: Number(url.port) || (is_secure ? 443 : 80), lookup });
  const { read, socket } = is_secure ? secured(plain, host, take) : { read: plain, socket: plain };
  let bytes_left = bytes_max;
  read.on("data", ({ length }: Buffer) => {
    bytes_left -= Math.max(length, bytes_of_read_min);
    // After the other listeners, as these bytes may have the answer in them, and before the next read.
    if (bytes_left <= 0) process.nextTick(tooMuch);
  });
  return socket;
}

/** TLS over a socket, so that its own messages are counted and wait for their turns, and what is read for it. */
function secured(plain: Socket, host: string, take: BoundedSocketOptions["take"]) {
  let bytes_left = handshake_bytes_max;
  // Before the piece is passed on.
  const count = ({ length }: Buffer): void => {
    bytes_left -= length;
    if (bytes_left < 0) plain.destroy(new Error("the receiver has sent too much before TLS was agreed on"));
  };
  plain.on("data", count);
  const { paced: read, atOnce } = pacedSocket(plain, take);
  const socket = connectSecurely({
    socket: read,
    host,
    servername: isIP(host) ? "" : host,
    // With DHE the receiver names the numbers to reckon with, as long as it likes: a second for 5 KiB.
    ciphers: `${DEFAULT_CIPHERS}:!kDHE`,
    secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
  });
  // What comes now costs little, and behind an answer the connection may be reset.
  socket.once("secureConnect", () => {
    plain.off("data", count);
    atOnce();
  });
  return { read, socket };
}
