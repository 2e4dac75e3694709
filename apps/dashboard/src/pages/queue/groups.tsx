import { Link } from "@tanstack/react-router";
import { client } from "../../api/client.ts";
import { useLive } from "../../api/queries.ts";
import { Card } from "../../components/page.tsx";
import { Answered } from "../../components/states.tsx";
import { Status } from "../../components/status.tsx";
import { Text } from "../../components/text.tsx";
import { MaybeTime } from "../../components/time.tsx";
import { count, plural } from "../../lib/format.ts";

/** Groups whose next jobs wait, and for which job. */
export function Groups({ queue, blocked }: { queue: string; blocked: number }) {
  const groups = useLive({
    key: ["groups", queue],
    ask: (signal) => client.heldGroups(queue, {}, { signal }),
    enabled: blocked > 0,
  });
  if (blocked === 0) return null;
  if (groups.data?.items.length === 0)
    return (
      <Card title="Blocked jobs">
        <p className="soft">
          <Link to="/ui/jobs" search={{ queue, status: "blocked" }}>
            {plural(blocked, "job")}
          </Link>{" "}
          {blocked === 1 ? "waits" : "wait"} for other jobs of a flow. No group of this queue is held.
        </p>
      </Card>
    );
  return (
    <Card title="Groups in progress" note="their jobs run in order" flush>
      <Answered to={groups} rows={3}>
        {({ items, next_cursor }) => (
          <div className="scroll-x">
            <table className="table">
              <thead>
                <tr>
                  <th>Group</th>
                  <th>Current job</th>
                  <th>State</th>
                  <th>Since</th>
                  <th className="num">Waiting</th>
                </tr>
              </thead>
              <tbody>
                {items.map(({ group, held_by, blocked: waiting, blocked_complete }) => (
                  <tr key={group}>
                    <td>
                      <Link to="/ui/jobs" search={{ queue, group }}>
                        <Text of={group} />
                      </Link>
                    </td>
                    <td data-name="held by">
                      {held_by && (
                        <Link to="/ui/jobs/$id" params={{ id: held_by.id }}>
                          <Text of={held_by.type} />
                        </Link>
                      )}
                    </td>
                    <td>{held_by && <Status status={held_by.status} />}</td>
                    <td className="soft">
                      <MaybeTime at={held_by?.since ?? null} />
                    </td>
                    <td className="num" data-name="waiting">
                      {count(waiting)}
                      {!blocked_complete && "+"}
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
            {next_cursor !== null && <p className="rows-foot">and more: these are the first {count(items.length)}</p>}
          </div>
        )}
      </Answered>
    </Card>
  );
}
