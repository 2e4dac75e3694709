import { z } from "zod";

const whole = (from: number) => z.coerce.number().int().min(from);

/** What the suite sets for an adapter, with its defaults, and where our Redis is. */
const settings = z.object({
  DATABASE_URL: z.string().min(1),
  REDIS_URL: z.string().optional(),
  SCENARIO: z.literal("long_horizon").default("long_horizon"),
  PRODUCER_MODE: z.enum(["fixed", "depth-target"]).default("fixed"),
  PRODUCER_RATE: whole(0).default(800),
  PRODUCER_RATE_CONTROL_FILE: z.string().optional(),
  PRODUCER_BATCH_MAX: whole(1).default(128),
  PRODUCER_BATCH_MS: whole(1).default(10),
  TARGET_DEPTH: whole(1).default(1_000),
  WORKER_COUNT: whole(1).default(32),
  JOB_PAYLOAD_BYTES: whole(0).default(256),
  JOB_WORK_MS: whole(0).default(1),
  SAMPLE_EVERY_S: whole(1).default(5),
  BENCH_INSTANCE_ID: whole(0).default(0),
});

export type AdapterConfig = z.infer<typeof settings>;

/** Throws an error of one line that names the variable, its value, and what it takes. */
export function readAdapterConfig(env: Record<string, string | undefined>): AdapterConfig {
  const parsed = settings.safeParse(env);
  if (parsed.success) return parsed.data;
  const lines = parsed.error.issues.map(({ path: [name = ""], message }) => {
    return `${String(name)} is ${JSON.stringify(env[String(name)])}: ${message}`;
  });
  throw new Error(lines.join("; "));
}
