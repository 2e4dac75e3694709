/** What a page of the dashboard asks first. `{id}` is some job's, `{dead}` some dead one's. */
type PageQuestion = { page: string; path: string };

const windows = ["15m", "1h", "24h", "30d"];
const statuses = ["scheduled", "blocked", "queued", "running", "failed", "succeeded", "dead", "cancelled"];
const on = (page: string, ...paths: string[]): PageQuestion[] => paths.map((path) => ({ page, path }));

const pageQuestions: readonly PageQuestion[] = [
  ...on("Overview", "/v1/overview", ...windows.map((window) => `/v1/stats/series?window=${window}`)),
  ...on("Queues", "/v1/queues?limit=50", "/v1/queues"),
  ...on("Queue", "/v1/stats/series?window=30d&queue=mails", "/v1/stats/series?window=24h&queue=mails&type=mail.send"),
  ...on(
    "Jobs",
    "/v1/jobs?limit=50",
    ...statuses.map((status) => `/v1/jobs?limit=50&status=${status}`),
    "/v1/jobs?limit=50&queue=mails",
    "/v1/jobs?limit=50&type=report.monthly",
    "/v1/jobs?limit=50&queue=customer-04000",
    "/v1/jobs?limit=50&queue=nothing",
  ),
  ...on("Job", "/v1/jobs/{id}", "/v1/jobs/{id}/attempts", "/v1/jobs/{id}/explain", "/v1/jobs/{dead}/attempts"),
  ...on(
    "Dead letters",
    "/v1/dlq?limit=50",
    "/v1/dlq?limit=50&type=mail.send",
    "/v1/dlq?limit=50&queue=webhooks",
    "/v1/dlq/groups",
  ),
  ...on("Schedules", "/v1/schedules"),
  ...on("Workers", "/v1/workers"),
  ...on("Settings", "/v1/tokens", "/v1/session"),
];

export type PageTime = PageQuestion & { status: number; first_ms: number; median_ms: number; bytes: number };

const repetitions = 7;

/**
 * Ask each question and time its whole answer: the first time, and the median of those after it.
 *
 * @example
 * const times = await timePages("http://127.0.0.1:8000");
 */
export async function timePages(url: string): Promise<PageTime[]> {
  const some = async (path: string) =>
    ((await (await fetch(`${url}${path}`)).json()) as { items: { id: string }[] }).items[0];
  const [job, dead] = [await some("/v1/jobs?limit=1"), await some("/v1/dlq?limit=1")];
  const times: PageTime[] = [];
  for (const question of pageQuestions) {
    const path = question.path.replace("{id}", job?.id ?? "").replace("{dead}", dead?.id ?? "");
    const first = await timed(`${url}${path}`);
    const later: number[] = [];
    for (let again = 0; again < repetitions; again += 1) later.push((await timed(`${url}${path}`)).ms);
    const median_ms = later.toSorted((a, b) => a - b)[repetitions >> 1] ?? 0;
    times.push({ ...question, status: first.status, first_ms: first.ms, median_ms, bytes: first.bytes });
  }
  return times;
}

async function timed(url: string): Promise<{ status: number; ms: number; bytes: number }> {
  const began = performance.now();
  const response = await fetch(url);
  const { byteLength } = await response.arrayBuffer();
  return { status: response.status, ms: performance.now() - began, bytes: byteLength };
}
