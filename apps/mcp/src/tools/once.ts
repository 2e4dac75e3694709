import type { CallOptions, Client } from "@atlasqueue/client";

/**
 * The id under which an act with this key goes into the API's audit trail. That is how a repeated call is recognised,
 * in whichever process it ends up.
 */
async function actId(tool: string, key: string): Promise<string> {
  const bytes = new TextEncoder().encode(`${tool}\n${key}`);
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return `mcp-${Array.from(digest.subarray(0, 20), (byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}

type Act = {
  /** The tool's name. */
  tool: string;
  /** What the audit trail calls it. */
  action: string;
  target?: string;
  key: string;
};

type Deps = { client: Client; clientAs(request_id: string): Client; signal: AbortSignal };

const entries_max = 200;
/** Of the trail, each of up to 5,000 of the tenant's acts: further back a repeated call is not recognised. */
const pages_max = 20;

/**
 * Do something once for a key: a repeated call, hours later and through another process too, changes nothing and is
 * told so. It is recognised by the audit trail, so a token that may not read cannot have that; there the act's own
 * rules must do.
 *
 * @example
 * const { repeated } = await once(context, { tool: "pause_queue", action: "queue.pause", target, key }, (client) => …);
 */
export async function once<T>(
  { client, clientAs, signal }: Deps,
  { tool, action, target, key }: Act,
  act: (client: Client, call: CallOptions) => Promise<T>,
): Promise<{ repeated: true } | { repeated: false; done: T }> {
  const id = await actId(tool, key);
  const filter = { action, ...(target === undefined ? {} : { target }), limit: entries_max };
  let cursor: string | undefined;
  for (let pages = 0; pages < pages_max; pages += 1) {
    const from = cursor === undefined ? filter : { ...filter, cursor };
    const page = await client.audit(from, { signal }).catch((error: unknown) => {
      if ((error as { status?: number }).status === 403) return { items: [], next_cursor: null };
      throw error;
    });
    // One that was begun and not finished may not have been done.
    if (page.items.some(({ request_id, finished }) => request_id === id && finished)) return { repeated: true };
    if (page.next_cursor === null) break;
    cursor = page.next_cursor;
  }
  return { repeated: false, done: await act(clientAs(id), { signal }) };
}
