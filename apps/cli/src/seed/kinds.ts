import type { JobStatus } from "@atlasqueue/contract";

/**
 * Jobs of a made-up company's day. `share` is among those of its class: what finished, what is still to do, what died.
 * In a text, %n is the job's number.
 */
export type Kind = {
  class: "finished" | "open" | "dead";
  share: number;
  queue: string;
  type: string;
  status: JobStatus;
  payload: string;
  /** The middle; most take less, a few much longer. */
  wait_ms: number;
  run_ms: number;
  error?: string;
};

const payloads = {
  mail: '{"to":"customer-%n@example.com","template":"receipt"}',
  order: '{"order_id":%n,"currency":"EUR"}',
  image: '{"image":%n,"width":1200}',
  file: '{"file":"prices-%n.csv"}',
};
type Payload = keyof typeof payloads;

function finished(share: number, queue: string, type: string, payload: Payload, wait_ms: number, run_ms: number): Kind {
  return { class: "finished", share, queue, type, status: "succeeded", payload: payloads[payload], wait_ms, run_ms };
}
function open(share: number, queue: string, type: string, payload: Payload, status: JobStatus): Kind {
  return { class: "open", share, queue, type, status, payload: payloads[payload], wait_ms: 0, run_ms: 0 };
}
function dead(share: number, queue: string, type: string, payload: Payload, error: string): Kind {
  const times = { wait_ms: 40, run_ms: 900 };
  return { class: "dead", share, queue, type, status: "dead", payload: payloads[payload], ...times, error };
}

const gone = "HttpError: 410 from https://shop-%n.example.com/hooks: the endpoint is gone";
const silent = "TimeoutError: no answer from shop-%n.example.com within 10000 ms";
const noMailbox = "SmtpError: 550 5.1.1 <customer-%n@example.com>: the mailbox does not exist";
const declined = 'CardError: the card of order %n was declined ("insufficient_funds")';
const noPrice = "RowError: line %n: price is not a number: 'on request'";
const bug =
  "TypeError: Cannot read properties of undefined (reading 'width')\n    at resize (/app/src/images.ts:41:18)\n    at run (/app/src/worker.ts:12:5)";

const kinds: readonly Kind[] = [
  finished(30, "mails", "mail.send", "mail", 12, 140),
  finished(6, "mails", "mail.digest", "mail", 20, 480),
  finished(18, "webhooks", "webhook.deliver", "order", 25, 320),
  finished(14, "default", "order.confirm", "order", 6, 35),
  finished(12, "search", "search.index", "order", 9, 18),
  finished(8, "images", "image.resize", "image", 180, 2_400),
  finished(5, "payments", "payment.capture", "order", 15, 610),
  finished(3, "imports", "import.rows", "file", 900, 9_000),
  finished(1, "reports", "report.monthly", "order", 3_000, 45_000),
  { ...finished(3, "default", "cart.remind", "order", 0, 0), status: "cancelled" },

  open(40, "default", "cart.remind", "order", "scheduled"),
  open(25, "imports", "import.rows", "file", "queued"),
  open(15, "reports", "report.monthly", "order", "queued"),
  { ...open(20, "webhooks", "webhook.deliver", "order", "failed"), error: silent },

  dead(34, "webhooks", "webhook.deliver", "order", gone),
  dead(22, "webhooks", "webhook.deliver", "order", silent),
  dead(18, "mails", "mail.send", "mail", noMailbox),
  dead(10, "payments", "payment.capture", "order", declined),
  dead(9, "imports", "import.rows", "file", noPrice),
  dead(7, "images", "image.resize", "image", bug),
];

/** The kinds of one class, and the sum of their shares. */
export function kindsOf(one: Kind["class"]): { own: Kind[]; shares: number } {
  const own = kinds.filter((kind) => kind.class === one);
  return { own, shares: own.reduce((total, { share }) => total + share, 0) };
}

/** The queues that have names; others are numbered. */
export const namedQueues: readonly string[] = [...new Set(kinds.map(({ queue }) => queue))];
