import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { Choice } from "../../components/button.tsx";
import { Page } from "../../components/page.tsx";
import { Answered } from "../../components/states.tsx";
import { plural } from "../../lib/format.ts";
import { Charts } from "./charts.tsx";
import { useOverview, useSeries } from "./figures.ts";
import { Problems } from "./problems.tsx";
import { Summary } from "./summary.tsx";
import { ByStatus } from "./by-status.tsx";
import { windows } from "./window.ts";

/** What is wrong first, then how much there is, then how it went. */
export function Overview() {
  const { window = "1h" } = useSearch({ from: "/" });
  const navigate = useNavigate();
  const overview = useOverview();
  const series = useSeries(window);
  const latest = useSeries("15m");
  return (
    <Page
      title="Overview"
      lead={overview.data && <QueuesLead queues={overview.data.queues} paused={overview.data.paused_queues} />}
      actions={
        <Choice
          label="How far back"
          of={windows}
          value={window}
          onChange={(chosen) => void navigate({ to: "/", search: chosen === "1h" ? {} : { window: chosen } })}
        />
      }
    >
      <Answered to={overview} rows={4}>
        {(data) => (
          <>
            <Problems of={data.problems} />
            <Summary overview={data} series={latest.data} />
          </>
        )}
      </Answered>
      <Answered to={series} rows={10}>
        {(data) => <Charts series={data} />}
      </Answered>
      {overview.data && <ByStatus counts={overview.data.counts} />}
    </Page>
  );
}

function QueuesLead({ queues, paused }: { queues: number; paused: number }) {
  return (
    <>
      <Link to="/ui/queues">{plural(queues, "queue")}</Link>
      {paused > 0 && `, ${paused} paused`}
    </>
  );
}
