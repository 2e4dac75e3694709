import { readApiToken, readApiUrl, type Env } from "./config.ts";
import { Trouble } from "./exit.ts";
import { refusalReason } from "./submit/answers.ts";
import { authorization, folderOf, networkReason, parseJson } from "./submit/post-job.ts";

const request_ms_max = 30_000;

/** Answers with the JSON that the API sent, undefined for an empty answer. Throws `Trouble` for any other than 2xx. */
export type CallApi = (method: string, path: string, body?: unknown) => Promise<unknown>;

/**
 * Talk to the API at a URL, or at ATLASQUEUE_URL, with ATLASQUEUE_TOKEN.
 *
 * @example
 * const page = await apiAt(undefined, env)("GET", "schedules?limit=200");
 */
export function apiAt(given_url: string | undefined, env: Env): CallApi {
  const url = given_url ?? readApiUrl(env);
  const token = readApiToken(env);
  return async (method, path, body) => {
    const { status, text } = await send(url, `v1/${path}`, {
      method,
      headers: { ...(body === undefined ? {} : { "content-type": "application/json" }), ...authorization(token) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (status < 200 || status > 299) throw new Trouble(refusalReason(status, text));
    return text === "" ? undefined : parseJson(text);
  };
}

async function send(url: string, path: string, init: RequestInit): Promise<{ status: number; text: string }> {
  try {
    const signal = AbortSignal.timeout(request_ms_max);
    const response = await fetch(new URL(path, folderOf(url)), { ...init, redirect: "manual", signal });
    return { status: response.status, text: await response.text() };
  } catch (error) {
    throw new Trouble(`${url} cannot be reached (${networkReason(error)}); is AtlasQueue running?`, { cause: error });
  }
}
