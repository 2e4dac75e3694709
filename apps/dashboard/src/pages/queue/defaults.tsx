import type { Queue } from "@atlasqueue/contract";
import { Card, Facts } from "../../components/page.tsx";
import { count, span } from "../../lib/format.ts";

/** What jobs of the queue have where they name nothing of their own. */
export function Defaults({ queue }: { queue: Queue }) {
  const { max_attempts, backoff, timeout_seconds, retention_seconds, result_ttl_seconds } = queue.defaults;
  const system = <span className="quiet">system default</span>;
  const time = (seconds: number | null) => (seconds === null ? system : span(seconds * 1_000));
  return (
    <Card title="Defaults of new jobs">
      <Facts
        of={[
          ["Max attempts", max_attempts === null ? system : count(max_attempts)],
          ["Backoff", backoff === null ? system : `${backoff.kind}, ${span(backoff.base_seconds * 1_000)}`],
          ["Timeout", time(timeout_seconds)],
          ["Kept after the end", time(retention_seconds)],
          ["Result kept", time(result_ttl_seconds)],
        ]}
      />
    </Card>
  );
}
