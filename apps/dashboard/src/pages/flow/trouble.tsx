import { JobLink } from "../../components/job-link.tsx";
import { Icon } from "../../components/icon.tsx";
import { plural } from "../../lib/format.ts";
import { clipped } from "../../lib/visible.ts";
import { nameOf, type WholeFlow } from "./ask.ts";

const named_max = 3;

/** Which of its jobs died, and whether the rest waits for them: the first thing to know about a flow that stands. */
export function Trouble({ flow }: { flow: WholeFlow }) {
  const dead = flow.items.filter(({ status }) => status === "dead");
  if (dead.length === 0 && flow.state !== "held") return null;
  return (
    <section className="card flush" aria-label="What is wrong">
      {flow.state === "held" && (
        <div className="notice" data-tone="warning">
          <Icon name="schedules" />
          <span>
            <strong>Blocked:</strong> the remaining jobs depend on failed jobs. Retry them or cancel the flow.
          </span>
        </div>
      )}
      {dead.slice(0, named_max).map(({ id, last_error, ...job }) => (
        <div key={id} className="notice" data-tone="bad">
          <Icon name="warning" />
          <span className="trouble">
            <JobLink id={id}>
              <bdi>{clipped(nameOf(job), 60)}</bdi>
            </JobLink>{" "}
            is dead{last_error !== null && <bdi className="soft">: {clipped(last_error)}</bdi>}
          </span>
        </div>
      ))}
      {dead.length > named_max && (
        <div className="notice" data-tone="bad">
          <Icon name="warning" />
          <span>{plural(dead.length - named_max, "more job is", "more jobs are")} dead</span>
        </div>
      )}
    </section>
  );
}
