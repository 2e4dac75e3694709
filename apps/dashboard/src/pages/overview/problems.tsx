import { Link } from "@tanstack/react-router";
import { runbookLink, type Overview } from "@atlasqueue/contract";
import { base } from "../../base.ts";
import { Icon } from "../../components/icon.tsx";
import { For } from "../../components/time.tsx";

type Problem = Overview["problems"][number];

/** What is wrong now, each with where to go about it; or that nothing is. */
export function Problems({ of }: { of: readonly Problem[] }) {
  if (of.length === 0)
    return (
      <section className="card flush" aria-label="What is wrong">
        <div className="notice" data-tone="good">
          <Icon name="check" />
          <span>Nothing is wrong</span>
        </div>
      </section>
    );
  return (
    <section className="card flush" aria-label="What is wrong">
      {of.map((problem) => (
        <div key={problem.code} className="notice" data-tone={problem.severity}>
          <Icon name="warning" />
          <span>
            {problem.detail.replace(/\.$/, "")}
            {problem.since !== null && (
              <span className="quiet">
                {" · for "}
                <For since={problem.since} />
              </span>
            )}
          </span>
          <Remedy {...problem} />
          <a href={base + runbookLink(problem.code)}>What to do</a>
        </div>
      ))}
    </section>
  );
}

function Remedy({ code, queue, count }: Problem) {
  if (code === "dead_letters_rising") return <Link to="/ui/dead">Dead letters</Link>;
  if (code === "workers_stuck") return <Link to="/ui/workers">Workers</Link>;
  // Those with trouble are the first there.
  if (queue !== null && count !== null && count > 1)
    return (
      <Link to="/ui/queues" search={code === "oldest_job_waits" ? { order: "oldest" } : {}}>
        See the {count} queues
      </Link>
    );
  if (queue !== null)
    return (
      <Link to="/ui/queues/$queue" params={{ queue }}>
        See the queue
      </Link>
    );
  return null;
}
