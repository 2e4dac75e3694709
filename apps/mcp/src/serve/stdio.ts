import { once } from "node:events";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { buildServer, type ServerOptions } from "../server/build.ts";

/**
 * Serve one client over stdin and stdout, until it closes stdin. Nothing else may write to stdout meanwhile.
 *
 * @example
 * await serveOverStdio({ reach: { url, token, retry_ms_max: 2_000 }, toolsets, version, report });
 */
export async function serveOverStdio(options: ServerOptions): Promise<void> {
  const handle = serveStdio(({ era }) => buildServer(options, era), { maxSubscriptions: 0, onerror: options.report });
  // Of a file, /dev/null too, there is an end only.
  await Promise.race([once(process.stdin, "end"), once(process.stdin, "close")]);
  await handle.close();
}
