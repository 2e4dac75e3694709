import type { History } from "../../history/open-history.ts";
import type { LoadConfig } from "../config.ts";
import { linkTo } from "./by-hand.ts";
import { libraryWorker, type Place } from "./with-library.ts";

type Asked = { worker_id?: string; next?: { worker_id: string } };
type Leased = { job: { id: string; attempts: number }; lease_token: string };

/**
 * `fetch`, for a client whose library asks for jobs by itself, at times with what it settles: each time is a line of the
 * history, with what it was given and when, or that no answer came. A worker that asks by hand writes its own.
 */
export function notedLeases(history: History, config: LoadConfig, place: Omit<Place, "client">): typeof fetch {
  const { tenant, api } = place;
  const worker = libraryWorker(config, place);
  return async (input, init) => {
    if (askedBy(String(input), init) !== worker) return fetch(input, init);
    const asked = history.invoke("lease", { worker, tenant, to: api, link: linkTo(config, api), library: true });
    try {
      const answer = await fetch(input, init);
      const text = await answer.clone().text();
      if (answer.ok) asked.ok({ jobs: jobsIn(JSON.parse(text) as { jobs?: Leased[]; next?: Leased[] }) });
      else asked.info(`${answer.status} ${text}`);
      return answer;
    } catch (error) {
      asked.info(error);
      throw error;
    }
  };
}

/** The worker that asks for jobs with this request, if it asks for any. */
function askedBy(url: string, init: RequestInit | undefined): string | undefined {
  if (!/\/(lease|settle)$/.test(url)) return undefined;
  const { worker_id, next } = JSON.parse(String(init?.body)) as Asked;
  return url.endsWith("/lease") ? worker_id : next?.worker_id;
}

const jobsIn = ({ jobs = [], next = jobs }: { jobs?: Leased[]; next?: Leased[] }) =>
  next.map(({ job, lease_token }) => ({ job: job.id, attempt: job.attempts, token: lease_token }));
