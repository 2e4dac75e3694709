import { isIP, Socket, type LookupFunction } from "node:net";
import { connect as connectSecurely } from "node:tls";

/** All that is read of what a receiver sends: 1xx answers, the answer, how they are framed, and what TLS adds. */
const bytes_max = 65_536;
/** A smaller read counts as one of this size, as it costs no less: 1,024 tiny pieces are too much, too. */
const bytes_of_read_min = 64;

export type BoundedSocketOptions = {
  lookup: LookupFunction;
  /** The bound is reached, and what was read has been parsed. The socket is to be destroyed now. */
  tooMuch: () => void;
};

/**
 * A connection to a URL's host that says when it has read too much. Node bounds a head, a chunk's extensions and the
 * trailers, but not how many 1xx answers and empty lines come before the head, nor the body, nor TLS's own messages: a
 * receiver that sends without end would keep everything else in the process from running.
 *
 * @example
 * http.request(url, { createConnection: () => boundedSocket(url, { lookup, tooMuch: () => sent.destroy() }) });
 */
export function boundedSocket(url: URL, { lookup, tooMuch }: BoundedSocketOptions): Socket {
  const is_secure = url.protocol === "https:";
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const plain = new Socket().setNoDelay();
  // Given before it is connected, it is read here, and so TLS's own messages are counted, too. Otherwise TLS reads from the
  // system directly, up to 2 MiB at once, and so many new keys or session tickets take seconds without an event.
  const socket = is_secure ? connectSecurely({ socket: plain, host, servername: isIP(host) ? "" : host }) : plain;
  let bytes_left = bytes_max;
  plain.on("data", ({ length }: Buffer) => {
    bytes_left -= Math.max(length, bytes_of_read_min);
    // After the other listeners, as these bytes may have the answer in them, and before the next read.
    if (bytes_left <= 0) process.nextTick(tooMuch);
  });
  plain.connect({ host, port: Number(url.port) || (is_secure ? 443 : 80), lookup });
  return socket;
}
