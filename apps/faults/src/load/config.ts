import { z } from "zod";

/** Pairs as in `one=a,two=b`: what the rig hands to a program by name. */
const pairs = z.string().transform((text, context) =>
  text.split(",").map((pair) => {
    const at = pair.indexOf("=");
    if (at < 1) context.addIssue({ code: "custom", message: `must be name=value, with commas between; got ${text}` });
    return { name: pair.slice(0, at), value: pair.slice(at + 1) };
  }),
);

const settings = z.object({
  /** Where the lines of the history go, and under which name. */
  FAULTS_HISTORY: z.string().min(1),
  FAULTS_PROCESS: z.string().min(1),
  FAULTS_SEED: z.coerce.number().int(),
  /** The way to each API process, by its name: `api-1=http://127.0.0.1:8000,api-2=…`. */
  API_URLS: pairs.optional(),
  /** A token for each tenant: `default=aq_…,other=aq_…`. */
  FAULTS_TOKENS: pairs.optional(),
  /** Whose queues this process pauses and limits, so that no two people change one. Default: all tenants'. */
  FAULTS_KEEPS: z.string().optional(),
  DATABASE_URL: z.string().optional(),
  REDIS_URL: z.string().optional(),
  FAULTS_RATE: z.coerce.number().positive().default(250),
  /** Stop by itself after so many acts; 0: at SIGTERM. */
  FAULTS_ACTS: z.coerce.number().int().nonnegative().default(0),
  FAULTS_LEASE_SECONDS: z.coerce.number().int().positive().default(3),
  /** Handlers run in processes of their own. */
  FAULTS_ISOLATE: z.stringbool().default(false),
});

type Named = { name: string; value: string };
export type LoadConfig = {
  history: string;
  process: string;
  seed: number;
  apis: readonly Named[];
  tokens: readonly Named[];
  keeps: string | undefined;
  database_url: string;
  redis_url: string;
  jobs_per_second: number;
  acts_max: number;
  lease_ms: number;
  isolate: boolean;
};

/** What a program of the load is told by whoever starts it. Throws for what is missing or wrong. */
export function readLoadConfig(env: Readonly<Record<string, string | undefined>> = process.env): LoadConfig {
  const set = settings.parse(env);
  return {
    history: set.FAULTS_HISTORY,
    process: set.FAULTS_PROCESS,
    seed: set.FAULTS_SEED,
    apis: set.API_URLS ?? [],
    tokens: set.FAULTS_TOKENS ?? [],
    keeps: set.FAULTS_KEEPS,
    database_url: set.DATABASE_URL ?? "",
    redis_url: set.REDIS_URL ?? "",
    jobs_per_second: set.FAULTS_RATE,
    acts_max: set.FAULTS_ACTS,
    lease_ms: set.FAULTS_LEASE_SECONDS * 1_000,
    isolate: set.FAULTS_ISOLATE,
  };
}
