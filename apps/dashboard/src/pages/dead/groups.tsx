import { Link } from "@tanstack/react-router";
import type { DeadGroup } from "@atlasqueue/contract";
import { useMay } from "../../api/session.ts";
import { Button } from "../../components/button.tsx";
import { Bars } from "../../components/spark.tsx";
import { Text } from "../../components/text.tsx";
import { Time } from "../../components/time.tsx";
import { count } from "../../lib/format.ts";

type Props = { of: readonly DeadGroup[]; onAct: (what: "replay" | "purge", group: DeadGroup) => void };

/** One line for each way in which a type fails: what still happens first. */
export function GroupTable({ of, onAct }: Props) {
  const may = useMay("admin");
  const top = Math.max(1, ...of.flatMap(({ per_hour }) => per_hour));
  const still = ({ per_hour }: DeadGroup) => per_hour.slice(-2).some((jobs) => jobs > 0);
  // Within both, the order of the API: rows stay where they are while someone reads.
  const latest = of.toSorted((a, b) => Number(still(b)) - Number(still(a)));
  return (
    <div className="scroll-x">
      <table className="table dead-groups">
        <thead>
          <tr>
            <th>Error</th>
            <th>Type</th>
            <th className="num">Jobs</th>
            <th className="wide-only">Last 24 hours</th>
            <th className="wide-only">First</th>
            <th>Last</th>
            <th>
              <span className="unseen">What to do</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {latest.map((group) => (
            <tr key={`${group.type} ${group.fingerprint}`}>
              <td className="error-cell">
                <Link
                  to="/ui/jobs"
                  search={{ status: "dead", type: group.type, fingerprint: group.fingerprint }}
                  title={group.error}
                >
                  <Text of={group.error || "No error was given"} />
                </Link>
              </td>
              <td className="soft">
                <Link to="/ui/dead" search={{ type: group.type }}>
                  <Text of={group.type} />
                </Link>
              </td>
              <td className="num" data-name="jobs">
                <strong>
                  {count(group.count)}
                  {!group.count_complete && "+"}
                </strong>
              </td>
              <td className="wide-only" data-tone="bad">
                <Bars values={group.per_hour} top={top} label={`Died by the hour: ${group.per_hour.join(", ")}`} />
              </td>
              <td className="soft wide-only" data-name="first">
                <Time at={group.first_seen} />
              </td>
              <td className="soft" data-name="last">
                <Time at={group.last_seen} />
              </td>
              <td>
                {may && (
                  <div className="row-actions">
                    <Button
                      kind="ghost"
                      icon="replay"
                      aria-label="Replay this group"
                      onClick={() => onAct("replay", group)}
                    >
                      Replay
                    </Button>
                    <Button
                      kind="ghost"
                      icon="trash"
                      data-tone="bad"
                      aria-label="Purge this group"
                      onClick={() => onAct("purge", group)}
                    >
                      Purge
                    </Button>
                  </div>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
