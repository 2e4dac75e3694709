import { base } from "../../base.ts";
import { useSession } from "../../api/session.ts";
import { TextBlock } from "../../components/json.tsx";
import { Empty } from "../../components/states.tsx";

/** What a flow is, and the line that makes one. */
export function FirstFlow() {
  const signed_in = useSession()?.auth === "required";
  return (
    <div className="first-flow">
      <Empty icon="flows" title="No flows yet">
        A flow is a batch of jobs that wait for one another: each runs when those it depends on have succeeded. This one
        has two.
      </Empty>
      <TextBlock label="Curl line" text={curlOfFlow(signed_in)} />
    </div>
  );
}

/** A line for a shell. Each paste is a new flow. */
function curlOfFlow(signed_in: boolean): string {
  const token = signed_in ? ` -H "Authorization: Bearer $ATLASQUEUE_TOKEN"` : "";
  const jobs = [
    { type: "demo.echo", ref: "first" },
    { type: "demo.echo", ref: "second", depends_on: ["first"] },
  ];
  return `curl -sS ${base}/v1/jobs/batch${token} -H 'Content-Type: application/json' -H "Idempotency-Key: flow-$(date +%s)" -d '${JSON.stringify({ jobs })}'`;
}
