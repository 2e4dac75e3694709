import { useState } from "react";
import { useNavigate } from "@tanstack/react-router";
import { isFinal, type Job } from "@atlasqueue/contract";
import { useAct } from "../../api/act.ts";
import { client } from "../../api/client.ts";
import { queries } from "../../api/queries.ts";
import { useMay, useSession } from "../../api/session.ts";
import { Button } from "../../components/button.tsx";
import { lazyPart } from "../../components/lazy-part.tsx";
import { Confirm } from "../../components/confirm.tsx";
import { Copy } from "../../components/copy.tsx";
import { jobKey } from "./ask.ts";
import { codeOf, curlOf, submissionOf } from "./code.ts";

const NewJob = lazyPart(() => import("../jobs/new-job.tsx"));
const EditJob = lazyPart(() => import("./edit.tsx"));

/** What can be done with this job, by its status and the reader's token. */
export function Actions({ job }: { job: Job }) {
  const [open, setOpen] = useState<"duplicate" | "edit" | "delete">();
  const [may, may_admin] = [useMay("submit"), useMay("admin")];
  const navigate = useNavigate();
  const signed_in = useSession()?.auth === "required";
  const touches = [jobKey(job.id), ["jobs"], ["flow"], ["flows"], ["queues"], ["overview"]];
  const shown = (status: Job["status"]) => [{ key: jobKey(job.id), to: asStatus(status) }];
  const cancel = useAct({
    send: (id: string) => client.cancel(id),
    expect: () => shown("cancelled"),
    what: "cancel the job",
    done: () => "The job is cancelled",
    touches,
  });
  const retry = useAct({
    send: (id: string) => client.retry(id),
    expect: () => shown("queued"),
    what: "retry the job",
    done: () => "The job is queued again",
    touches,
  });
  const close = () => {
    setOpen(undefined);
    void queries.invalidateQueries({ queryKey: jobKey(job.id) });
  };
  const over = isFinal(job.status);
  const again = job.status === "dead" || job.status === "cancelled" || job.status === "failed";
  return (
    <>
      <Copy text={() => curlOf(job, signed_in)} what="Curl line">
        curl
      </Copy>
      <Copy text={() => codeOf(job, signed_in)} what="Code">
        Code
      </Copy>
      {may && (
        <Button icon="plus" onClick={() => setOpen("duplicate")}>
          Duplicate
        </Button>
      )}
      {may_admin && over && (
        <Button icon="trash" onClick={() => setOpen("delete")}>
          Delete
        </Button>
      )}
      {may_admin && again && (
        <Button icon="edit" onClick={() => setOpen("edit")}>
          Edit and retry
        </Button>
      )}
      {may && !over && (
        <Button icon="close" onClick={() => cancel.mutate(job.id)}>
          Cancel job
        </Button>
      )}
      {may && again && (
        <Button kind="main" icon="replay" onClick={() => retry.mutate(job.id)}>
          Retry
        </Button>
      )}
      {open === "duplicate" && <NewJob like={submissionOf(job)} onClose={close} />}
      {open === "edit" && <EditJob job={job} onClose={close} />}
      {open === "delete" && (
        <Confirm
          title="Delete this job?"
          verb="Delete"
          act={async () => {
            await client.delete(job.id);
            await navigate({ to: "/ui/jobs" });
          }}
          onClose={() => setOpen(undefined)}
        >
          Permanently deletes the job, its attempts and their logs.
        </Confirm>
      )}
    </>
  );
}

/** Only the job itself has a status: its attempts are kept under keys that begin with the same. */
function asStatus(status: Job["status"]) {
  return (before: Job) => ("status" in before && "payload" in before ? { ...before, status } : before);
}
