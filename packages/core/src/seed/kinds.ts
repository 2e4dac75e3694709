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

const mail = '{"to":"customer-%n@example.com","template":"receipt"}';
const order = '{"order_id":%n,"currency":"EUR"}';
const finished = { class: "finished", status: "succeeded" } as const;
const dead = { class: "dead", status: "dead", wait_ms: 40, run_ms: 900 } as const;
const open = { class: "open", wait_ms: 0, run_ms: 0 } as const;

export const kinds: readonly Kind[] = [
  { ...finished, share: 30, queue: "mails", type: "mail.send", payload: mail, wait_ms: 12, run_ms: 140 },
  { ...finished, share: 6, queue: "mails", type: "mail.digest", payload: mail, wait_ms: 20, run_ms: 480 },
  { ...finished, share: 18, queue: "webhooks", type: "webhook.deliver", payload: order, wait_ms: 25, run_ms: 320 },
  { ...finished, share: 14, queue: "default", type: "order.confirm", payload: order, wait_ms: 6, run_ms: 35 },
  { ...finished, share: 12, queue: "search", type: "search.index", payload: '{"document":%n}', wait_ms: 9, run_ms: 18 },
  {
    ...finished,
    share: 8,
    queue: "images",
    type: "image.resize",
    payload: '{"image":%n,"width":1200}',
    wait_ms: 180,
    run_ms: 2_400,
  },
  { ...finished, share: 5, queue: "payments", type: "payment.capture", payload: order, wait_ms: 15, run_ms: 610 },
  {
    ...finished,
    share: 3,
    queue: "imports",
    type: "import.rows",
    payload: '{"file":"prices-%n.csv"}',
    wait_ms: 900,
    run_ms: 9_000,
  },
  {
    ...finished,
    share: 1,
    queue: "reports",
    type: "report.monthly",
    payload: '{"customer":%n}',
    wait_ms: 3_000,
    run_ms: 45_000,
  },
  {
    ...finished,
    share: 3,
    queue: "default",
    type: "cart.remind",
    payload: order,
    wait_ms: 0,
    run_ms: 0,
    status: "cancelled",
  },

  { ...open, share: 40, queue: "default", type: "cart.remind", payload: order, status: "scheduled" },
  { ...open, share: 25, queue: "imports", type: "import.rows", payload: '{"file":"prices-%n.csv"}', status: "queued" },
  { ...open, share: 15, queue: "reports", type: "report.monthly", payload: '{"customer":%n}', status: "queued" },
  {
    ...open,
    share: 20,
    queue: "webhooks",
    type: "webhook.deliver",
    payload: order,
    status: "failed",
    error: "HttpError: 503 from https://shop-%n.example.com/hooks",
  },

  {
    ...dead,
    share: 34,
    queue: "webhooks",
    type: "webhook.deliver",
    payload: order,
    error: "HttpError: 410 from https://shop-%n.example.com/hooks: the endpoint is gone",
  },
  {
    ...dead,
    share: 22,
    queue: "webhooks",
    type: "webhook.deliver",
    payload: order,
    error: "TimeoutError: no answer from shop-%n.example.com within 10000 ms",
  },
  {
    ...dead,
    share: 18,
    queue: "mails",
    type: "mail.send",
    payload: mail,
    error: "SmtpError: 550 5.1.1 <customer-%n@example.com>: the mailbox does not exist",
  },
  {
    ...dead,
    share: 10,
    queue: "payments",
    type: "payment.capture",
    payload: order,
    error: 'CardError: the card of order %n was declined ("insufficient_funds")',
  },
  {
    ...dead,
    share: 9,
    queue: "imports",
    type: "import.rows",
    payload: '{"file":"prices-%n.csv"}',
    error: "RowError: line %n: price is not a number: 'on request'",
  },
  {
    ...dead,
    share: 7,
    queue: "images",
    type: "image.resize",
    payload: '{"image":%n,"width":1200}',
    error:
      "TypeError: Cannot read properties of undefined (reading 'width')\n    at resize (/app/src/images.ts:41:18)\n    at run (/app/src/worker.ts:12:5)",
  },
];

/** The queues that have names; others are numbered. */
export const namedQueues: readonly string[] = [...new Set(kinds.map(({ queue }) => queue))];
