import { once } from "node:events";
import { request, type IncomingMessage } from "node:http";

/** How a server answers under this name. */
export async function statusFor(url: string, host: string): Promise<number | undefined> {
  const { port } = new URL(url);
  const sent = request({ host: "127.0.0.1", port, path: "/metrics", headers: { host } }).end();
  const [answer] = (await once(sent, "response")) as [IncomingMessage];
  answer.resume();
  return answer.statusCode;
}
