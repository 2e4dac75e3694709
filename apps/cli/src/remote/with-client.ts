import { AtlasQueueError, createClient, type Client } from "@atlasqueue/client";
import { readApiToken, readApiUrl, type Env } from "../config.ts";
import { Trouble } from "../exit.ts";
import { troubleOf } from "./trouble.ts";

/** A person is waiting: how long to keep asking an API that is away. */
const retry_ms_max = 2_000;

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
