import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { NotFoundError } from "@atlasqueue/client";
import { Choice } from "../../components/button.tsx";
import { Copy } from "../../components/copy.tsx";
import { Card, Page } from "../../components/page.tsx";
import { Answered, Empty } from "../../components/states.tsx";
import { count } from "../../lib/format.ts";
import { StateOfFlow } from "../flows/state.tsx";
import { FlowActions } from "./actions.tsx";
import { useFlow, type WholeFlow } from "./ask.ts";
import { Graph } from "./graph.tsx";
import { Summary } from "./summary.tsx";
import { FlowJobs } from "./table.tsx";
import { Trouble } from "./trouble.tsx";
import { drawn_jobs_max, useRoom, type View } from "./view.ts";

const views = [
  ["graph", "Graph and table"],
  ["table", "Table"],
] as const satisfies readonly (readonly [View, string])[];

/** One flow: how far it is, what holds it up, and its jobs, drawn and as a table. */
export function FlowPage() {
  const { id } = useParams({ from: "/ui/flows/$id" });
  const flow = useFlow(id);
  if (flow.error instanceof NotFoundError)
    return (
      <Page title="Flow">
        <Empty icon="flows" title="There is no such flow">
          It may have been removed with its jobs: finished ones are kept for a time only.{" "}
          <Link to="/ui/flows">All flows</Link>
        </Empty>
      </Page>
    );
  return (
    <Page
      title="Flow"
      lead={
        <span className="job-lead">
          {flow.data && <StateOfFlow state={flow.data.state} />}
          <span className="mono">{id}</span>
          <Copy text={id} what="Id" />
        </span>
      }
      actions={flow.data && <FlowActions flow={flow.data} />}
    >
      <Answered to={flow} rows={10}>
        {(found) => (
          <>
            <Trouble flow={found} />
            <Summary flow={found} />
            <Jobs flow={found} />
          </>
        )}
      </Answered>
    </Page>
  );
}

function Jobs({ flow }: { flow: WholeFlow }) {
  const { view = "graph" } = useSearch({ from: "/ui/flows/$id" });
  const navigate = useNavigate();
  const few = flow.items.length <= drawn_jobs_max;
  const room = useRoom();
  const choose = (chosen: View) =>
    void navigate({
      to: "/ui/flows/$id",
      params: { id: flow.id },
      search: chosen === "table" ? { view: chosen } : {},
      replace: true,
    });
  return (
    <section className="stack" aria-label="Jobs">
      <div className="section-head">
        <h2>Jobs</h2>
        {few && room && <Choice label="Show the jobs as" of={views} value={view} onChange={choose} />}
        {!few && <span className="quiet">Of more than {count(drawn_jobs_max)} jobs there is no graph</span>}
      </div>
      {few && room && view === "graph" && <Graph flow={flow} />}
      <div id="jobs-of-flow" tabIndex={-1}>
        <Card flush>
          <FlowJobs flow={flow} />
        </Card>
      </div>
    </section>
  );
}
