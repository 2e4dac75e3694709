import { between, oneOf } from "@atlasqueue/harness/servers";
import { problemAnswer, type Answer, type ModelApi } from "./model-api.ts";

/** What may become of a call besides a prompt answer. `after`: the API has done what it asks. */
export const fates = [
  "refused",
  "cut before",
  "cut after",
  "swallowed before",
  "swallowed after",
  "late",
  "half an answer",
  "page before",
  "page after",
  "no room",
  "rate limited",
  "away",
  "away after",
] as const;
export type Fate = "prompt" | (typeof fates)[number];

const pages = [404, 413, 500, 503];

/** A `fetch` to the model, over a network that does with each call what `fateOf` says. */
export function network(api: ModelApi, random: () => number, fateOf: (path: string) => Fate): typeof fetch {
  const travel = (ms_max = 30) => new Promise<void>((resolve) => setTimeout(resolve, between(random, 1, ms_max)));
  const error = (code: string) =>
    Object.assign(new TypeError("fetch failed"), { cause: Object.assign(new Error(code), { code }) });
  const never = () => new Promise<never>(() => {});
  const page = () => new Response("<html>", { status: oneOf(random, pages) ?? 502 });
  const response = ({ status, body }: Answer, headers = {}) => new Response(JSON.stringify(body), { status, headers });
  const deaf = new AbortController().signal;

  const meet = async (fate: Fate, path: string, ask: (gone: AbortSignal) => Promise<Answer>, gone: AbortSignal) => {
    const away = problemAnswer("unavailable");
    // What is not to be prompt may be on its way for a while.
    await travel(fate === "prompt" ? 30 : 400);
    switch (fate) {
      case "prompt": {
        const answer = await ask(gone);
        await travel();
        return response(answer);
      }
      case "refused":
        throw error("ECONNREFUSED");
      case "cut before":
        throw error("ECONNRESET");
      case "cut after":
        await ask(deaf);
        throw error("ECONNRESET");
      case "swallowed before":
        return never();
      case "swallowed after":
        await ask(deaf);
        return never();
      case "late": {
        await travel(10_000);
        const answer = await ask(deaf);
        await travel(10_000);
        return response(answer);
      }
      case "half an answer":
        await ask(deaf);
        return new Response(new ReadableStream({ start: (half) => half.enqueue(new TextEncoder().encode("{")) }));
      case "page before":
        return page();
      case "page after":
        await ask(deaf);
        return page();
      case "no room":
        return response(problemAnswer("no_room"), { "retry-after": "1" });
      case "rate limited":
        return response(problemAnswer("rate_limited"), { "retry-after": "1" });
      case "away after": {
        await ask(deaf);
        away.body = { ...(away.body as object), maybe_done: true };
        break;
      }
      case "away":
        break;
    }
    if (path.endsWith("/heartbeat")) api.toldAway();
    return response(away);
  };

  return (input, init) => {
    const path = new URL(String(input)).pathname;
    const body = JSON.parse(String(init?.body ?? "{}")) as Record<string, unknown>;
    const signal = init?.signal ?? deaf;
    const hung_up = new Promise<never>((_, reject) =>
      signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true }),
    );
    const met = meet(fateOf(path), path, (gone) => api.ask(path, body, gone), signal);
    return Promise.race([met, hung_up]);
  };
}
