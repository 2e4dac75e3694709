import { useNavigate, useSearch } from "@tanstack/react-router";
import { flowStates } from "@atlasqueue/contract";
import { Button } from "../../components/button.tsx";
import { Card, Page } from "../../components/page.tsx";
import { Answered, Empty } from "../../components/states.tsx";
import { plural } from "../../lib/format.ts";
import { FirstFlow } from "./first-flow.tsx";
import type { FlowsFilter } from "./filter.ts";
import { useFlows } from "./list.ts";
import { stateNames } from "./state.tsx";
import { FlowTable } from "./table.tsx";

/** Jobs that wait for one another, a line for each such whole. */
export function Flows() {
  const filter = useSearch({ from: "/ui/flows" });
  const navigate = useNavigate();
  const list = useFlows(filter);
  const items = list.data?.pages.flatMap((page) => page.items) ?? [];
  const choose = (search: FlowsFilter) => void navigate({ to: "/ui/flows", search });
  return (
    <Page title="Flows" actions={<StateFilter state={filter.state} onChange={choose} />}>
      <Card flush>
        <Answered to={list}>
          {() => {
            if (items.length > 0) return <FlowTable of={items} />;
            if (filter.state === undefined) return <FirstFlow />;
            return (
              <Empty
                icon="flows"
                title={list.hasNextPage ? "None of the newest flows is in this state" : "No flow is in this state"}
              >
                <Button onClick={() => choose({})}>Show all flows</Button>
              </Empty>
            );
          }}
        </Answered>
        {list.hasNextPage && (
          <div className="rows-foot">
            <span>{plural(items.length, "flow")}</span>
            <Button disabled={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
              {list.isFetchingNextPage ? "Looking…" : filter.state === undefined ? "Show more" : "Look further back"}
            </Button>
          </div>
        )}
      </Card>
    </Page>
  );
}

function StateFilter({ state, onChange }: { state: FlowsFilter["state"]; onChange: (filter: FlowsFilter) => void }) {
  return (
    <select
      className="select"
      aria-label="State"
      value={state ?? ""}
      onChange={({ target }) => {
        const chosen = flowStates.find((each) => each === target.value);
        onChange(chosen ? { state: chosen } : {});
      }}
    >
      <option value="">All states</option>
      {flowStates.map((each) => (
        <option key={each} value={each}>
          {stateNames[each]}
        </option>
      ))}
    </select>
  );
}
