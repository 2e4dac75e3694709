import type { Client } from "@atlasqueue/client";
import type { OnParentFailure } from "@atlasqueue/contract";
import { becomes } from "./world.ts";

export type Step = {
  ref: string;
  /** What becomes of it: `stays` in a queue that no worker takes, and so does what waits for it. */
  step: "succeeds" | "dies" | "stays";
  /** Refs of steps before it, or ids of other jobs. */
  after?: readonly string[];
  on_parent_failure?: OnParentFailure;
};

const jobs = {
  succeeds: { type: "report.build", queue: "reports" },
  dies: { type: "mail.send", queue: "mails", max_attempts: 1, payload: { to: "nobody@example.org" } },
  stays: { type: "step", queue: "elsewhere" },
};

/** A flow that has come as far as it gets by itself. */
export async function submitFlow(client: Client, steps: readonly Step[]) {
  const flow = client.flow();
  for (const { ref, step, after, on_parent_failure } of steps)
    flow.add({
      ...jobs[step],
      ref,
      ...(after && { depends_on: after }),
      ...(on_parent_failure && { on_parent_failure }),
    });
  const submitted = await flow.submit();
  const idOf = (ref: string) => submitted.jobs[steps.findIndex((each) => each.ref === ref)]?.id ?? "";
  for (const { ref, step } of steps)
    if (step !== "stays") await becomes(client, idOf(ref), step === "dies" ? "dead" : "succeeded");
  return { id: submitted.id ?? "", idOf };
}
