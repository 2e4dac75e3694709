import { NotFoundError, type Client } from "@atlasqueue/client";
import { jobId, queueName } from "@atlasqueue/contract";
import { ResourceNotFoundError } from "@modelcontextprotocol/server";
import { Refusal } from "../refusal.ts";
import { chars_shown_default, items_max } from "../tools/fields.ts";
import { showDetails } from "../tools/job-views.ts";
import { queueNamed } from "../tools/queue-named.ts";
import { showQueue } from "../tools/read/queues.ts";
import { marked } from "../untrusted/marked.ts";
import { visible } from "../untrusted/visible.ts";

const mimeType = "application/json";

export const resourceTemplates = [
  {
    uriTemplate: "atlasqueue://jobs/{id}",
    name: "job",
    title: "A job",
    description: "A job by its id: status, times, payload, result, last error.",
    mimeType,
  },
  {
    uriTemplate: "atlasqueue://queues/{name}",
    name: "queue",
    title: "A queue",
    description: "A queue by its name: whether it is paused, its jobs by status, its limits.",
    mimeType,
  },
];

/** The first queues; jobs are too many to list. A token that may not read has none. */
export async function listResources(client: Client, signal: AbortSignal) {
  const page = await client.queuePage({ limit: items_max }, { signal }).catch((error: unknown) => {
    if ((error as { status?: number }).status === 403) return { items: [] };
    throw error;
  });
  return page.items.map(({ queue }) => ({
    uri: `atlasqueue://queues/${encodeURIComponent(queue)}`,
    name: visible(queue),
    mimeType,
  }));
}

/** The content behind an address. Rejects with ResourceNotFoundError for one that has none. */
export async function readResource(client: Client, uri: string, signal: AbortSignal) {
  const [, kind, name] = /^atlasqueue:\/\/(jobs|queues)\/([^/?#]+)$/.exec(uri) ?? [];
  const cuts: string[] = [];
  const text = async (): Promise<object> => {
    const named = decoded(name ?? "");
    if (kind === "jobs" && jobId.safeParse(named).success)
      return { job: showDetails(cuts, await client.get(named, { signal }), { chars_max: chars_shown_default }) };
    if (kind === "queues" && queueName.safeParse(named).success)
      return { queue: showQueue(cuts, await queueNamed(client, named, { signal })) };
    throw new ResourceNotFoundError(uri);
  };
  const data = await text().catch((error: unknown) => {
    throw error instanceof NotFoundError || error instanceof Refusal ? new ResourceNotFoundError(uri) : error;
  });
  return [{ uri, mimeType, text: JSON.stringify(marked(data, cuts)) }];
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return "";
  }
}
