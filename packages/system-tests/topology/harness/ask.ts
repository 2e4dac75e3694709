import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";

export type Answer = { status: number; body: unknown; retry_after: string | null };

/** More than the API takes to say that a server is away; a call without an answer by then throws. */
const answer_ms_max = 15_000;
const pause_ms = 50;

/** One request to the API, whatever it answers. */
export async function ask(
  url: string,
  method: string,
  path: string,
  body?: object,
  key?: string,
  token?: string,
): Promise<Answer> {
  const answer = await fetch(`${url}${path}`, {
    method,
    headers: {
      ...(token && { authorization: `Bearer ${token}` }),
      ...(body && { "content-type": "application/json" }),
      ...(method !== "GET" && { "idempotency-key": key ?? randomUUID() }),
    },
    ...(body && { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(answer_ms_max),
  });
  const text = await answer.text();
  return {
    status: answer.status,
    body: text === "" ? undefined : (JSON.parse(text) as unknown),
    retry_after: answer.headers.get("retry-after"),
  };
}

type Insistence = {
  body?: object;
  key?: string;
  token?: string | undefined;
  /** Called for each refusal. */
  hear?: () => void;
  /** Whether a connection that breaks is as good as a 503. */
  breaks?: boolean;
};

/**
 * As a client does it: with one key until it is answered. 503 with Retry-After is the only refusal there may be; `hear`
 * is told of each. More often than a client should, as the time is measured.
 */
export async function insist<Body>(
  url: string,
  method: string,
  path: string,
  { body, key = randomUUID(), token, hear = () => {}, breaks = false }: Insistence = {},
): Promise<Body> {
  for (;;) {
    const answer = await ask(url, method, path, body, key, token).catch((error: unknown) => {
      if (!breaks || !(error instanceof TypeError)) throw error;
      return undefined;
    });
    if (answer && answer.status < 400) return answer.body as Body;
    if (answer && (answer.status !== 503 || answer.retry_after === null))
      throw new Error(`${method} ${path} was answered ${answer.status} ${JSON.stringify(answer.body)}`);
    hear();
    await delay(pause_ms);
  }
}
