import { useState } from "react";
import type { Schedule } from "@atlasqueue/contract";
import { useMay } from "../../api/session.ts";
import { Button } from "../../components/button.tsx";
import { lazyPart } from "../../components/lazy-part.tsx";
import { Card, Page } from "../../components/page.tsx";
import { Answered, Empty } from "../../components/states.tsx";
import { plural } from "../../lib/format.ts";
import { useSchedules } from "./ask.ts";
import { NextHours } from "./next-hours.tsx";
import { ScheduleTable } from "./table.tsx";

const EditSchedule = lazyPart(() => import("./edit.tsx"));

export function Schedules() {
  const schedules = useSchedules();
  const may = useMay("admin");
  const [edited, setEdited] = useState<Schedule | "new">();
  return (
    <Page
      title="Schedules"
      lead={schedules.data && plural(schedules.data.length, "schedule")}
      actions={
        may && (
          <Button kind="main" icon="plus" onClick={() => setEdited("new")}>
            New schedule
          </Button>
        )
      }
    >
      <Answered to={schedules}>
        {(all) =>
          all.length === 0 ? (
            <Card flush>
              <Empty icon="schedules" title="No schedules yet">
                A schedule makes a job at set times, in any time zone.
              </Empty>
            </Card>
          ) : (
            <>
              <NextHours of={all} />
              <Card flush>
                <ScheduleTable of={all} onEdit={setEdited} />
              </Card>
            </>
          )
        }
      </Answered>
      {edited && (
        <EditSchedule {...(edited === "new" ? {} : { schedule: edited })} onClose={() => setEdited(undefined)} />
      )}
    </Page>
  );
}
