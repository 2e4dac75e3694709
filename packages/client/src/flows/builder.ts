import type {
  submitThrough,
  JobDefinition,
  JobOptions,
  Json,
  OnParentFailure,
  SubmitJobInput,
} from "@atlasqueue/contract";
import { keyHeader, randomKey } from "../idempotency-key.ts";
import type { CallOptions, Send } from "../http/transport.ts";
import type { Handle } from "../results/handle.ts";

/** A job of a flow that is being put together: what other jobs of it may depend on. */
export type FlowMember<Result = Json> = {
  readonly ref: string;
  /** Never there: so that the type remembers the result. */
  readonly result?: Result;
};

/** How a job hangs together with others. */
export type FlowLinks = {
  /** Its name in the flow: 1 to 128 characters out of A-Z a-z 0-9 . _ : -. Default: job-1, job-2 and so on. */
  ref?: string;
  /** Members of this flow, or ids of jobs that exist. */
  depends_on?: readonly (FlowMember<never> | FlowMember | string)[];
  /** What becomes of it when one of them is dead or cancelled. Default: "cancel". */
  on_parent_failure?: OnParentFailure;
};

type InFlow = Omit<SubmitJobInput, keyof FlowLinks>;

export type FlowBuilder = {
  /** Add a job. Throws a TypeError when its ref is taken. */
  add(job: InFlow & FlowLinks): FlowMember;
  add<Input, Result>(
    definition: JobDefinition<Input, unknown, Result>,
    payload: NoInfer<Input>,
    options?: Omit<JobOptions, "idempotency_key" | keyof FlowLinks> & FlowLinks,
  ): FlowMember<Result>;
  /** One more job, which runs when all of them have ended, however they did. It receives how many ended how. */
  afterAll(job: InFlow): void;
  /**
   * Store the whole flow, or nothing; resolves when it is durable. Without an idempotency key one is generated, so that
   * a repeated try makes no second flow. Rejects like `client.submit`; the ValidationError names every bad job.
   */
  submit(options?: CallOptions & { idempotencyKey?: string }): Promise<SubmittedFlow>;
};

export type SubmittedFlow = {
  /** For `client.flows`. Null when no job depends on another. */
  readonly id: string | null;
  /** False when the key was already used for the same flow, even by an earlier try of the same call. */
  readonly created: boolean;
  /** Of the jobs, in the order in which they were added. */
  readonly jobs: readonly Handle[];
  /** Of the job given to `afterAll`. */
  readonly last: Handle | undefined;
  /** Of one of the jobs. */
  handle<Result>(member: FlowMember<Result>): Handle<Result>;
};

type HandleOf = <Result>(id: string, definition?: JobDefinition<never, unknown, Result>) => Handle<Result>;
type Definition = JobDefinition<unknown, unknown, unknown>;
type Added = { request: InFlow; definition?: Definition; payload?: unknown };
type Answer = { jobs: { id: string; created: boolean }[]; then?: { id: string }; flow_id: string | null };

/**
 * Puts a flow together. Nothing is sent before `submit`.
 *
 * @example
 * const flow = client.flow();
 * const rows = flow.add(loadSales, { month: "2030-01" });
 * flow.add(sendReport, { to: "ada@example.org" }, { depends_on: [rows] });
 * const { id } = await flow.submit();
 */
export function createFlowBuilder(
  send: Send,
  through: ReturnType<typeof submitThrough>,
  handleOf: HandleOf,
): FlowBuilder {
  const added = new Map<string, Added>();
  let last: InFlow | undefined;

  const add = <Result>(
    { ref = `job-${added.size + 1}`, depends_on = [], on_parent_failure }: FlowLinks,
    { request, ...rest }: Added,
  ): FlowMember<Result> => {
    if (added.has(ref)) throw new TypeError(`ref: ${JSON.stringify(ref)} is the name of another job of this flow`);
    const parents = depends_on.map((one) => (typeof one === "string" ? one : one.ref));
    const links = {
      ref,
      ...(parents.length > 0 && { depends_on: parents }),
      ...(on_parent_failure && { on_parent_failure }),
    };
    added.set(ref, { request: { ...request, ...links }, ...rest });
    return { ref };
  };

  return {
    add<Input, Result>(
      first: (InFlow & FlowLinks) | JobDefinition<Input, unknown, Result>,
      payload?: Input,
      options: Omit<JobOptions, keyof FlowLinks> & FlowLinks = {},
    ) {
      if (!("submission" in first)) {
        const { ref, depends_on, on_parent_failure, ...request } = first;
        return add<Result>({ ref, depends_on, on_parent_failure } as FlowLinks, { request });
      }
      const { ref, depends_on, on_parent_failure, ...rest } = options;
      const request = first.submission(payload as Input, rest as JobOptions);
      const definition = first as unknown as Definition;
      return add<Result>({ ref, depends_on, on_parent_failure } as FlowLinks, { request, definition, payload });
    },
    afterAll(job) {
      last = job;
    },
    async submit({ idempotencyKey = randomKey(), ...call } = {}) {
      const jobs = [...added.values()];
      for (const { definition, payload } of jobs) await definition?.parse(payload);
      const headers = { "idempotency-key": keyHeader(idempotencyKey) };
      const flow = { jobs: jobs.map(({ request }) => request), ...(last && { then: last }) };
      const submitNow = async (given: typeof flow) => {
        const request = { method: "POST", path: "/v1/jobs/batch", headers, repeat: "always" } as const;
        return (await send({ ...request, body: JSON.stringify(given) }, call)).body as Answer;
      };
      const {
        jobs: stored,
        then,
        flow_id,
      } = await through.flow(flow, submitNow, (answer) => [...answer.jobs, answer.then]);
      const handles = jobs.map(({ definition }, at) => handleOf<Json>(stored[at]?.id ?? "", definition as never));
      const places = new Map([...added.keys()].map((ref, at) => [ref, at]));
      return {
        id: flow_id,
        created: stored.every(({ created }) => created),
        jobs: handles,
        last: then && handleOf<Json>(then.id),
        handle<Result>({ ref }: FlowMember<Result>) {
          const handle = handles[places.get(ref) ?? -1];
          if (!handle) throw new TypeError(`${JSON.stringify(ref)} is no job of this flow`);
          return handle as unknown as Handle<Result>;
        },
      };
    },
  };
}
