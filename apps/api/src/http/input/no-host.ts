import type { IncomingMessage } from "node:http";

/**
 * HTTP/1.0 knows no Host, and some load balancers' health checks send none. Such a request is addressed to where it
 * arrived. Later versions require one.
 *
 * @example
 * addressOldRequest(incoming); // incoming.headers.host is "10.0.0.7:8000"
 */
export function addressOldRequest({ httpVersion, headers, socket }: IncomingMessage): void {
  if (httpVersion !== "1.0" || headers.host !== undefined) return;
  // A zone has no place in a URL.
  const address = socket.localAddress?.replace(/^::ffff:(?=\d+\.)|%.*/, "");
  if (address === undefined) return;
  headers.host = `${address.includes(":") ? `[${address}]` : address}:${socket.localPort}`;
}
