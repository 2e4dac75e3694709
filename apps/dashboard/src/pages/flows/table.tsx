import { Link } from "@tanstack/react-router";
import type { Flow } from "@atlasqueue/contract";
import { MaybeTime, Time } from "../../components/time.tsx";
import { count } from "../../lib/format.ts";
import { HowFar } from "./how-far.tsx";
import { StateOfFlow } from "./state.tsx";

/** Newest first, one flow a line. */
export function FlowTable({ of }: { of: readonly Flow[] }) {
  return (
    <div className="scroll-x">
      <table className="table" aria-label="Flows">
        <thead>
          <tr>
            <th>State</th>
            <th>Flow</th>
            <th>Jobs ended</th>
            <th className="num">Dead</th>
            <th className="num">Cancelled</th>
            <th>Created</th>
            <th>Finished</th>
          </tr>
        </thead>
        <tbody>
          {of.map((flow) => (
            <tr key={flow.id}>
              <td>
                <StateOfFlow state={flow.state} />
              </td>
              <td>
                <Link to="/ui/flows/$id" params={{ id: flow.id }} className="mono clip flow-id">
                  {flow.id}
                </Link>
              </td>
              <td>
                <HowFar flow={flow} />
              </td>
              <Count of={flow.counts.dead} name="dead" bad />
              <Count of={flow.counts.cancelled} name="cancelled" />
              <td className="soft" data-name="created">
                <Time at={flow.created_at} />
              </td>
              <td className="soft" data-name="finished">
                <MaybeTime at={flow.finished_at} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Count({ of, name, bad = false }: { of: number; name: string; bad?: boolean }) {
  return (
    <td className={of === 0 ? "num zero" : bad ? "num fault" : "num"} data-name={name}>
      {count(of)}
    </td>
  );
}
