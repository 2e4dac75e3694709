import { useState } from "react";
import { isFinal } from "@atlasqueue/contract";
import { useAct } from "../../api/act.ts";
import { client } from "../../api/client.ts";
import { useMay } from "../../api/session.ts";
import { Button } from "../../components/button.tsx";
import { Confirm } from "../../components/confirm.tsx";
import { plural } from "../../lib/format.ts";
import { endedOf } from "../flows/how-far.tsx";
import { flowsKey } from "../flows/list.ts";
import { flowKey, withStatuses, type WholeFlow } from "./ask.ts";

/** Cancel what is left, retry what failed. */
export function FlowActions({ flow }: { flow: WholeFlow }) {
  const [asked, setAsked] = useState<"cancel" | "retry">();
  const may = useMay("submit");
  const { cancel, retry } = useFlowActs(flow.id);
  const { dead, cancelled } = flow.counts;
  const open = flow.jobs - endedOf(flow.counts);
  const again = [
    ...(dead > 0 ? [plural(dead, "dead job")] : []),
    ...(cancelled > 0 ? [plural(cancelled, "cancelled job")] : []),
  ];
  const close = () => setAsked(undefined);
  if (!may) return null;
  return (
    <>
      {open > 0 && (
        <Button icon="close" onClick={() => setAsked("cancel")}>
          Cancel flow
        </Button>
      )}
      {dead + cancelled > 0 && (
        <Button kind="main" icon="replay" onClick={() => setAsked("retry")}>
          Retry what failed
        </Button>
      )}
      {asked === "cancel" && (
        <Confirm
          title="Cancel this flow?"
          keep="Keep flow"
          verb={`Cancel ${plural(open, "job")}`}
          act={async () => cancel.mutate(flow.id)}
          onClose={close}
        >
          Jobs that have not ended are cancelled; the handlers of running ones are aborted. What has succeeded stays.
        </Confirm>
      )}
      {asked === "retry" && (
        <Confirm
          title="Retry what failed?"
          verb="Retry"
          danger={false}
          act={async () => retry.mutate(flow.id)}
          onClose={close}
        >
          {again.join(" and ")} will run again, with all attempts. What has succeeded stays.
          {cancelled > 0 && " Jobs that were cancelled because another one failed wait for that one again."}
        </Confirm>
      )}
    </>
  );
}

function useFlowActs(id: string) {
  const touches = [flowKey(id), flowsKey, ["job"], ["jobs"], ["queues"], ["overview"]];
  const shown = (to: (before: WholeFlow) => WholeFlow) => () => [{ key: flowKey(id), to }];
  return {
    cancel: useAct({
      send: (flow: string) => client.flows.cancel(flow),
      expect: shown((before) =>
        withStatuses(before, before.counts.dead > 0 ? "failed" : "cancelled", (status) =>
          isFinal(status) ? status : "cancelled",
        ),
      ),
      what: "cancel the flow",
      done: ({ changed }) => `${plural(changed, "job")} cancelled`,
      touches,
    }),
    retry: useAct({
      send: (flow: string) => client.flows.retry(flow),
      // Of the cancelled ones, only the API knows which of them wait for another one again.
      expect: shown((before) => withStatuses(before, "running", (status) => (status === "dead" ? "queued" : status))),
      what: "retry the flow",
      done: ({ changed }) => `${plural(changed, "job")} retried`,
      touches,
    }),
  };
}
