import type { Final } from "../audit/read-final.ts";
import type { Moved } from "../audit/read-audit.ts";
import type { LineOf } from "../history/line.ts";

/** All times are ms of the database's clock. What has no end known lasts for ever: `Infinity`. */
type Span = { from_ms: number; to_ms: number };

type Wanted = LineOf<"submit", "invoke">["jobs"][number];
type Answer = LineOf<"submit", "ok">["answers"][number];

/** How a call ended, as its caller knows it: done, certainly not done, or nobody knows. */
export type Known = "ok" | "fail" | "info";

export type Submit = Span & {
  known: Known;
  via: string;
  batch: string | undefined;
  row: string | undefined;
  jobs: Wanted[];
  answers: ReadonlyMap<string, Answer>;
};

/** A handler's life, until it ended or its process did. */
export type HandlerRun = Span & {
  process: string;
  job: string;
  attempt: number;
  worker: string;
  remote: boolean;
  ended: "returned" | "threw" | "aborted" | "unknown";
};

type Settle = Span & {
  known: Known;
  process: string;
  job: string;
  token: string | undefined;
  attempt: number;
  as: LineOf<"settle", "invoke">["as"];
  answer: "applied" | "refused" | undefined;
};

/** A remote worker asked for jobs, until it was answered or gave up. */
type LeaseCall = Span & {
  worker: string;
  by_hand: boolean;
  known: Known;
  /** Under which it asked, if that is known. */
  asked_under: string | undefined;
  tokens: ReadonlySet<string>;
};

/** A remote worker renewed a lease, until it was answered or gave up. */
type Renewal = Span & { job: string; token: string; known: Known };

/** A remote worker gave back what it might have been given, until it was answered or gave up. */
type GivenBack = Span & { token: string; known: Known };

/** What people did to jobs: those named, or all that a filter met. */
export type Act = Span & { known: Known; act: "cancel" | "retry" | "replay" | "purge"; jobs: string[] | undefined };

export type Fault = Span & {
  fault: string;
  victims: string[];
  signal: string | undefined;
  played: boolean;
  note: string | undefined;
};

type Life = Span & { name: string; role: string; victim: boolean; code: number | null; signal: string | null };

export type Limit = Span & {
  known: Known;
  tenant: string;
  queue: string;
  concurrency: number | null;
  rate: { limit: number; period_ms: number } | null;
};

type Trespass = Span & { tenant: string; jobs: string[]; about: string; seen: boolean };

export type Schedule = Span & {
  known: Known;
  name: string;
  tenant: string;
  every_ms: number;
  catch_up: "one" | "all" | undefined;
};

type Sample = { at_ms: number; of: string; name: string; value: number; bound: number | undefined };

/** All that is known of one job: its moves in their order, and the handlers that ran for it. */
export type Story = { id: string; moves: Moved[]; runs: HandlerRun[] };

type Settings = Pick<
  LineOf<"run", "invoke">,
  "seed" | "minutes" | "commit" | "lease_ms" | "sweep_ms" | "backoff_ms_max" | "synchronous"
>;

/** What a run left behind, put together for the invariants to look at. */
export type Facts = {
  settings: Settings;
  quiet: Span | undefined;
  stories: ReadonlyMap<string, Story>;
  submits: Submit[];
  settles: Settle[];
  leaseCalls: LeaseCall[];
  renewals: Renewal[];
  givenBack: GivenBack[];
  acts: Act[];
  faults: Fault[];
  lives: Life[];
  limits: Limit[];
  schedules: Schedule[];
  trespasses: Trespass[];
  samples: Sample[];
  final: Final;
};
