import { useEffect, useRef, useState } from "react";
import type { Operation } from "@atlasqueue/contract";
import { wordsOf } from "../../api/link.ts";
import { queries } from "../../api/queries.ts";
import { client } from "../../api/client.ts";
import { toast } from "../../app/toasts.ts";
import { Button } from "../../components/button.tsx";
import { Modal, ModalFoot } from "../../components/modal.tsx";
import { count, plural, span } from "../../lib/format.ts";
import type { JobsFilter } from "./filter.ts";

export type BulkAction = "cancel" | "retry" | "delete" | "purge";
type Which = { ids: string[] } | { filter: JobsFilter };

const words = {
  cancel: { title: "Cancel jobs", verb: "Cancel", done: "cancelled", what: "Running jobs are aborted." },
  retry: {
    title: "Retry jobs",
    verb: "Retry",
    done: "queued again",
    what: "Dead, cancelled and failed jobs run again with all their attempts.",
  },
  delete: {
    title: "Delete jobs",
    verb: "Delete",
    done: "deleted",
    what: "Permanently deletes finished jobs and their history.",
  },
  purge: {
    title: "Purge jobs",
    verb: "Purge",
    done: "purged",
    what: "Permanently deletes waiting and finished jobs and their history. Running jobs are not affected.",
  },
} as const;

/** How often the dialog asks how far an operation has come. */
const look_ms = 1_000;

/** Counts first and then acts. Of all that match it starts an operation, which goes on when the dialog is closed. */
export function BulkDialog({
  action,
  which,
  onClose,
}: {
  action: BulkAction;
  which: Which;
  onClose: (changed: boolean) => void;
}) {
  const [found, setFound] = useState<{ total: number; exact: boolean; cursor?: string }>();
  const [begun, setBegun] = useState(false);
  const [operation, setOperation] = useState<Operation>();
  const [pausing, setPausing] = useState(false);
  const [fault, setFault] = useState<string>();
  const open = useRef(new AbortController());
  const { title, verb, done, what } = words[action];
  const queue = "filter" in which && (action === "cancel" || action === "purge") ? which.filter.queue : undefined;

  useEffect(() => {
    const asking = new AbortController();
    open.current = asking;
    countFirst(action, which, asking.signal).then(
      setFound,
      (error: unknown) => asking.signal.aborted || setFault(wordsOf(error)),
    );
    return () => asking.abort();
    // The choice does not change while the dialog is open.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, []);

  /** How many jobs were changed; undefined if the dialog was closed before the end. */
  const change = async ({ signal }: AbortController): Promise<number | undefined> => {
    if ("ids" in which) return (await client.bulk({ action, ids: which.ids })).changed;
    if (pausing && queue !== undefined) await client.pause(queue);
    // What was made since the count was not asked about.
    const wish = { kind: action, ...chosen(which.filter), ...(found?.cursor && { cursor: found.cursor }) };
    let now = await client.operations.create(wish);
    while (now.finished_at === null && !signal.aborted) {
      setOperation(now);
      await new Promise((resolve) => setTimeout(resolve, look_ms));
      now = await client.operations.get(now.id, { signal });
    }
    return signal.aborted ? undefined : now.done;
  };

  const act = async () => {
    const dialog = open.current;
    setFault(undefined);
    setBegun(true);
    try {
      const changed = await change(dialog);
      if (changed === undefined) return;
      toast({ tone: "good", text: `${plural(changed, "job")} ${done}` });
      onClose(true);
    } catch (error) {
      if (!dialog.signal.aborted) setFault(wordsOf(error));
    } finally {
      void queries.invalidateQueries();
    }
  };
  const stop = (id: string) => {
    client.operations.cancel(id).catch((error: unknown) => setFault(wordsOf(error)));
  };

  const busy = begun && fault === undefined;
  return (
    <Modal title={title} lead={what} onClose={() => onClose(begun)}>
      <div className="modal-body">
        <p className="big-count" role="status">
          {operation ? progressWords(operation, done) : busy ? "Starting…" : found ? countWords(found) : "Counting…"}
        </p>
        {operation && (
          <p className="quiet">It goes on if you close this. Jobs that are {done} stay so if you stop it.</p>
        )}
        {queue !== undefined && !begun && (
          <label>
            <input type="checkbox" checked={pausing} onChange={({ target }) => setPausing(target.checked)} /> Pause the
            queue first
          </label>
        )}
        {fault && (
          <p className="fault" role="alert">
            {fault}
          </p>
        )}
        <ModalFoot>
          <Button onClick={() => onClose(begun)}>Close</Button>
          {operation ? (
            <Button onClick={() => stop(operation.id)}>Stop this operation</Button>
          ) : (
            <Button
              kind={action === "retry" ? "main" : "danger"}
              disabled={busy || !found || (found.exact && found.total === 0)}
              onClick={() => void act()}
            >
              {found ? `${verb} ${found.exact ? plural(found.total, "job") : "all matching jobs"}` : verb}
            </Button>
          )}
        </ModalFoot>
      </div>
    </Modal>
  );
}

async function countFirst(action: BulkAction, which: Which, signal: AbortSignal) {
  if ("ids" in which) {
    const { matched } = await client.bulk({ action, ids: which.ids, dry_run: true }, { signal });
    return { total: matched, exact: true };
  }
  const preview = await client.operations.preview({ kind: action, ...chosen(which.filter) }, { signal });
  return { total: preview.total, exact: preview.total_complete, cursor: preview.cursor };
}

/** How many of how many, and how long the rest takes at the pace so far. */
function progressWords({ done, total, total_complete, created_at, updated_at }: Operation, verb: string): string {
  const took_ms = Date.parse(updated_at) - Date.parse(created_at);
  const left = total - done;
  const rest = done > 0 && left > 0 ? `, about ${span((took_ms / done) * left)} left` : "";
  return `${count(done)} of ${count(total)}${total_complete ? "" : " or more"} ${verb}${rest}`;
}

function countWords({ total, exact }: { total: number; exact: boolean }): string {
  if (exact && total === 0) return "No such job can be changed this way";
  return `${exact ? "" : "At least "}${plural(total, "job")} selected`;
}

function chosen(filter: JobsFilter): { filter: JobsFilter } | { all: true } {
  return Object.keys(filter).length === 0 ? { all: true } : { filter };
}
