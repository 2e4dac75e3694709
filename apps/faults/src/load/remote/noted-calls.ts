import type { Begun, History } from "../../history/open-history.ts";
import type { LoadConfig } from "../config.ts";
import { linkTo } from "./by-hand.ts";
import { libraryWorker, type Place } from "./with-library.ts";

type Asked = { lease_token: string; worker_id?: string; next?: { worker_id: string; lease_token: string } };
type Leased = { job: { id: string; attempts: number }; lease_token: string };

/**
 * `fetch`, for a client whose library asks for jobs by itself, at times with what it settles, renews leases and gives back: each time is a line of the history, with what came of it and when, or that no answer came. A worker that asks by hand writes its own
 * lines of what it asks for.
 */
export function notedCalls(history: History, config: LoadConfig, place: Omit<Place, "client">): typeof fetch {
  const { tenant, api } = place;
  const worker = libraryWorker(config, place);
  return async (input, init) => {
    const [, job, verb] = /(?:\/jobs\/([^/]+))?\/(lease|settle|heartbeat|leases\/release)$/.exec(String(input)) ?? [];
    if (verb === undefined) return fetch(input, init);
    const { worker_id, next, lease_token } = JSON.parse(String(init?.body)) as Asked;
    const token = next?.lease_token ?? lease_token;
    if (verb === "heartbeat" && job !== undefined) {
      const renewed = history.invoke("renew", { job, token });
      return told(renewed, fetch(input, init), async () => renewed.ok({}));
    }
    if (verb === "leases/release") {
      const given = history.invoke("giveBack", { token });
      return told(given, fetch(input, init), async () => given.ok({}));
    }
    if ((worker_id ?? next?.worker_id) !== worker) return fetch(input, init);
    const link = linkTo(config, api);
    const asked = history.invoke("lease", { worker, tenant, to: api, link, library: true, token });
    return told(asked, fetch(input, init), async (answer) => asked.ok({ jobs: jobsIn(await answer.json()) }));
  };
}

/** Notes what came of a call once all of its answer is there. */
async function told(
  begun: Pick<Begun<"lease">, "fail" | "info">,
  answering: Promise<Response>,
  ok: (answer: Response) => Promise<void>,
): Promise<Response> {
  try {
    const answer = await answering;
    if (answer.ok) await ok(answer.clone());
    else {
      const text = await answer.clone().text();
      begun[saysUndone(answer.status, text) ? "fail" : "info"](`${answer.status} ${text}`);
    }
    return answer;
  } catch (error) {
    begun.info(error);
    throw error;
  }
}

/** The API itself takes back what it may have leased nevertheless. */
const saysUndone = (status: number, text: string) =>
  status < 500 || (text.includes('"type":"/problems/') && !text.includes('"maybe_done":true'));

const jobsIn = (answer: unknown) => {
  const { jobs = [], next = jobs } = answer as { jobs?: Leased[]; next?: Leased[] };
  return next.map(({ job, lease_token }) => ({ job: job.id, attempt: job.attempts, token: lease_token }));
};
