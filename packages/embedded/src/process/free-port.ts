import { createServer } from "node:net";

// Below every system's range for outgoing connections (Linux 32768 and up, macOS 49152 and up): otherwise a client that
// keeps dialling a stopped server could be given the server's own port and keep it from coming back.
const lowest = 15_000;
const highest = 32_000;
const tries_max = 100;

/**
 * A TCP port on 127.0.0.1 that nothing listens on now. It is not reserved: be ready for it to be taken meanwhile.
 * Throws when 100 random ports between 15000 and 32000 are all taken.
 *
 * @example
 * const port = await freePort();
 * server.listen(port, "127.0.0.1");
 */
export async function freePort(): Promise<number> {
  for (let tried = 0; tried < tries_max; tried++) {
    const port = lowest + Math.floor(Math.random() * (highest - lowest));
    if (await isPortFree(port)) return port;
  }
  throw new Error(`no free port found between ${lowest} and ${highest} in ${tries_max} tries`);
}

/** Whether 127.0.0.1:port can be listened on, found by doing so for a moment. */
function isPortFree(port: number): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "EADDRINUSE") resolve(false);
      else reject(error);
    });
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });
}

/** The one error for a port already taken. */
export function portInUse(port: number): Error {
  return new Error(`port ${port} is in use`);
}

/** The requested port, or a free one; throws "port 5432 is in use" when the requested one is taken. */
export async function choosePort(asked: number | undefined): Promise<number> {
  if (asked === undefined) return freePort();
  if (!(await isPortFree(asked))) throw portInUse(asked);
  return asked;
}
