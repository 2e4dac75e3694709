import { AtlasQueueError, AuthError, createClient, NetworkError, type Client } from "@atlasqueue/client";
import { readApiToken, readApiUrl, type Env } from "../config.ts";
import { Trouble } from "../exit.ts";

/** A person waits: an API that is away is asked again for so long. */
const retry_ms_max = 5_000;

/**
 * Do something with the API at `--url` or ATLASQUEUE_URL, with ATLASQUEUE_TOKEN. Its refusals are thrown as `Trouble`.
 *
 * @example
 * const queues = await withClient(env, options, (client) => client.queues());
 */
export async function withClient<T>(
  env: Env,
  options: { url?: string | undefined },
  act: (client: Client) => Promise<T>,
): Promise<T> {
  const url = options.url ?? readApiUrl(env);
  const token = readApiToken(env);
  try {
    return await act(createClient({ url, ...(token === undefined ? {} : { token }), retryMaxMs: retry_ms_max }));
  } catch (error) {
    if (!(error instanceof AtlasQueueError)) throw error;
    throw new Trouble(troubleOf(error, url, token), { cause: error });
  }
}

/** What the API said no to, in one line. */
export function troubleOf(error: AtlasQueueError, url: string, token: string | undefined): string {
  if (error instanceof NetworkError) {
    const reason = error.message.replace(/^[^:]*: /, "").replace(/^fetch failed: /, "");
    return `${url} cannot be reached (${reason}); is AtlasQueue running there?`;
  }
  if (error instanceof AuthError && token === undefined) return `${error.message}; set ATLASQUEUE_TOKEN`;
  return error.message;
}
