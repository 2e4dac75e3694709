import { jobStatuses } from "@atlasqueue/contract";
import { Facts } from "../../components/page.tsx";
import { Status } from "../../components/status.tsx";
import { For, MaybeTime, Time } from "../../components/time.tsx";
import { count, span } from "../../lib/format.ts";
import { HowFar } from "../flows/how-far.tsx";
import type { WholeFlow } from "./ask.ts";

/** How far it is, how many of its jobs are doing what, and since when. */
export function Summary({ flow }: { flow: WholeFlow }) {
  const { counts, created_at, finished_at } = flow;
  return (
    <section className="card flow-summary" aria-label="How far it is">
      <HowFar flow={flow} />
      <ul className="flow-counts">
        {jobStatuses
          .filter((status) => counts[status] > 0)
          .map((status) => (
            <li key={status}>
              <Status status={status} /> <span className="num">{count(counts[status])}</span>
            </li>
          ))}
      </ul>
      <Facts
        of={[
          ["Created", <Time key="c" at={created_at} />],
          ["Finished", <MaybeTime key="f" at={finished_at} />],
          [
            finished_at === null ? "Under way for" : "Took",
            finished_at === null ? (
              <For key="t" since={created_at} />
            ) : (
              span(Date.parse(finished_at) - Date.parse(created_at))
            ),
          ],
        ]}
      />
    </section>
  );
}
