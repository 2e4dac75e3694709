import { useState } from "react";
import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { AuditEntry, AuditPage } from "@atlasqueue/contract";
import { client } from "../../api/client.ts";
import { slow_refresh_ms, usePoll } from "../../api/refresh.ts";
import { Button } from "../../components/button.tsx";
import { Card, Page } from "../../components/page.tsx";
import { Answered, Empty } from "../../components/states.tsx";
import { Text } from "../../components/text.tsx";
import { Time } from "../../components/time.tsx";
import { count } from "../../lib/format.ts";
import { actionWords, detailWords, kindsOf, nameOf } from "./words.ts";

/** Who did what, newest first. */
export function Activity() {
  const [kind, setKind] = useState("");
  const poll_ms = usePoll(slow_refresh_ms);
  const list = useInfiniteQuery({
    queryKey: ["audit", kind],
    queryFn: ({ pageParam, signal }): Promise<AuditPage> =>
      client.audit({ ...(kind ? { action: kind } : {}), ...(pageParam ? { cursor: pageParam } : {}) }, { signal }),
    initialPageParam: null as string | null,
    getNextPageParam: ({ next_cursor }) => next_cursor,
    refetchInterval: ({ state }) => ((state.data?.pages.length ?? 0) > 1 ? false : poll_ms),
  });
  const items = list.data?.pages.flatMap((page) => page.items) ?? [];
  return (
    <Page
      title="Audit log"
      lead="operations by people and tokens"
      actions={
        <select
          className="select"
          aria-label="Which actions"
          value={kind}
          onChange={({ target }) => setKind(target.value)}
        >
          <option value="">All actions</option>
          {kindsOf.map((action) => (
            <option key={action} value={action}>
              {actionWords(action)}
            </option>
          ))}
        </select>
      }
    >
      <Card flush>
        <Answered to={list}>
          {() =>
            items.length === 0 ? (
              <Empty icon="activity" title="No activity yet">
                Pauses, limits, replays, purges, cancels and new tokens are listed here.
              </Empty>
            ) : (
              <AuditTable of={items} />
            )
          }
        </Answered>
        {list.hasNextPage && (
          <div className="rows-foot">
            <Button disabled={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
              Show more
            </Button>
          </div>
        )}
      </Card>
    </Page>
  );
}

function AuditTable({ of }: { of: readonly AuditEntry[] }) {
  return (
    <div className="scroll-x">
      <table className="table">
        <thead>
          <tr>
            <th>When</th>
            <th>Actor</th>
            <th>From</th>
            <th>Action</th>
            <th>Target</th>
            <th className="num">Jobs</th>
            <th>Details</th>
          </tr>
        </thead>
        <tbody>
          {of.map((entry) => (
            <tr key={entry.id}>
              <td className="soft">
                <Time at={entry.at} />
              </td>
              <td>
                <Actor {...entry.actor} />
              </td>
              <td className="quiet">{entry.address && <Text of={entry.address} mono />}</td>
              <td>
                <strong>{actionWords(entry.action)}</strong>
                {entry.refused && <Refused calls={entry.refused} />}
                {!entry.finished && <span className="quiet"> Started; result unknown</span>}
              </td>
              <td>
                <Target {...entry} />
              </td>
              <td className="num">{entry.count === null ? "" : count(entry.count)}</td>
              <td className="quiet">{entry.detail && <Text of={detailWords(entry.action, entry.detail)} />}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Refused({ calls }: { calls: number }) {
  return (
    <>
      {" "}
      <span className="tag" data-tone="bad" title="The token does not allow this: nothing was done">
        refused{calls > 1 && ` ${count(calls)} times`}
      </span>
    </>
  );
}

function Actor({ kind, name, token_id }: AuditEntry["actor"]) {
  // Inside another program, that has said who it is.
  if (kind === "anybody") return name === null ? <span className="quiet">Unauthenticated</span> : <Text of={name} />;
  if (kind === "operator") return <>operator</>;
  return (
    <>
      <span title={token_id ?? undefined}>
        {name === null ? <span className="quiet">a token</span> : <Text of={name} />}
      </span>
      {kind === "session" && <span className="unseen"> from the dashboard</span>}
    </>
  );
}

/** A link to what it was done to, by its name. */
function Target({ action, target, detail }: AuditEntry) {
  const [kind] = action.split(".");
  if (kind === "dlq" || kind === "replay")
    return <Link to="/ui/dead">{kind === "dlq" ? "dead letters" : "a replay"}</Link>;
  if (target === null) return <span className="quiet">–</span>;
  const name = nameOf(action, detail);
  switch (kind) {
    case "queue":
      return (
        <Link to="/ui/queues/$queue" params={{ queue: target }}>
          {target}
        </Link>
      );
    case "schedule":
      return (
        <Link to="/ui/schedules">
          <Text of={target} />
        </Link>
      );
    case "flow":
      return (
        <Link to="/ui/flows/$id" params={{ id: target }} title={target}>
          a flow
        </Link>
      );
    case "job":
      return (
        <Link to="/ui/jobs/$id" params={{ id: target }} title={target}>
          {name === undefined ? "a job" : <Text of={name} />}
        </Link>
      );
    case "token":
    case "session":
      return (
        <Link to="/ui/settings" title={target}>
          {name === undefined ? "a token" : <Text of={name} />}
        </Link>
      );
    case "operation":
      return <span title={target}>an operation</span>;
    default:
      return <Text of={target} />;
  }
}
