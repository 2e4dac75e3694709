import { once } from "node:events";
import { request, type IncomingMessage } from "node:http";

type Load = { url: string; connections: number; parts: readonly string[]; seconds_max: number };

/**
 * Send parts, each some whole lines, over a number of streams to POST /v1/jobs/stream, as fast as they are taken.
 * Resolves with how many jobs were created; a stream in which any was not, or that ended early, rejects.
 */
export async function loadStreams({ url, connections, parts, seconds_max }: Load): Promise<number> {
  const end = performance.now() + seconds_max * 1_000;
  let at = 0;
  const next = () => (performance.now() < end ? parts[at++] : undefined);
  const created = await Promise.all(Array.from({ length: connections }, () => useStream(url, next)));
  return created.reduce((sum, jobs) => sum + jobs, 0);
}

async function useStream(url: string, next: () => string | undefined): Promise<number> {
  const headers = { "content-type": "application/x-ndjson" };
  const outgoing = request(`${url}/v1/jobs/stream`, { method: "POST", agent: false, headers });
  outgoing.flushHeaders();
  const [incoming] = (await once(outgoing, "response")) as [IncomingMessage];
  const answered = readAnswers(incoming);
  for (let part = next(); part !== undefined; part = next()) if (!outgoing.write(part)) await once(outgoing, "drain");
  outgoing.end();
  return answered;
}

async function readAnswers(incoming: IncomingMessage): Promise<number> {
  let lines = 0;
  let tail = "";
  for await (const chunk of incoming) {
    const bytes = chunk as Buffer;
    for (let at = bytes.indexOf(10); at !== -1; at = bytes.indexOf(10, at + 1)) lines += 1;
    if (bytes.includes('"error"')) throw new Error(`a line was refused: ${bytes.toString().slice(0, 300)}`);
    tail = (tail + bytes.toString("latin1", Math.max(0, bytes.length - 200))).slice(-200);
  }
  const jobs = lines - 1;
  if (!tail.endsWith(`{"end":"complete","answered":${jobs}}\n`)) throw new Error(`the stream ended with ${tail}`);
  return jobs;
}
