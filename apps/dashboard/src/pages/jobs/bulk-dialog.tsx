import { useEffect, useRef, useState } from "react";
import { wordsOf } from "../../api/link.ts";
import { queries } from "../../api/queries.ts";
import { client } from "../../api/client.ts";
import { toast } from "../../app/toasts.ts";
import { Button } from "../../components/button.tsx";
import { Modal, ModalFoot } from "../../components/modal.tsx";
import { count, plural } from "../../lib/format.ts";
import type { JobsFilter } from "./filter.ts";

export type BulkAction = "cancel" | "retry" | "delete" | "purge";
type Which = { ids: string[] } | { filter: JobsFilter };

const words = {
  cancel: { title: "Cancel jobs", verb: "Cancel", done: "cancelled", what: "Those that run are told to stop." },
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
    what: "Finished jobs go for good, with their history.",
  },
  purge: {
    title: "Purge jobs",
    verb: "Purge",
    done: "purged",
    what: "What waits and what is finished goes for good, with its history. Running jobs go on.",
  },
} as const;

/** Counts first, acts when told to, and shows how far it is: a large number takes several calls. */
export function BulkDialog({
  action,
  which,
  onClose,
}: {
  action: BulkAction;
  which: Which;
  onClose: (changed: boolean) => void;
}) {
  const [found, setFound] = useState<{ matched: number; exact: boolean; cursor: string | undefined }>();
  const [changed, setChanged] = useState<number>();
  const [fault, setFault] = useState<string>();
  const stop = useRef(new AbortController());
  const { title, verb, done, what } = words[action];

  useEffect(() => {
    const asking = new AbortController();
    stop.current = new AbortController();
    client.bulk({ action, ...chosen(which), dry_run: true }, { signal: asking.signal }).then(
      ({ matched, next_cursor, first_cursor }) =>
        setFound({ matched, exact: next_cursor === null, cursor: first_cursor }),
      (error: unknown) => asking.signal.aborted || setFault(wordsOf(error)),
    );
    return () => {
      asking.abort();
      stop.current.abort();
    };
    // The choice does not change while the dialog is open.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, []);

  const act = async () => {
    const { signal } = stop.current;
    let sum = 0;
    // What was made since the count was not asked about.
    let cursor: string | null | undefined = found?.cursor;
    setFault(undefined);
    setChanged(0);
    try {
      while (cursor !== null && !signal.aborted) {
        const answer = await client.bulk({ action, ...chosen(which), ...(cursor ? { cursor } : {}) }, { signal });
        sum += answer.changed;
        cursor = answer.next_cursor;
        setChanged(sum);
      }
      toast({ tone: "good", text: `${plural(sum, "job")} ${done}` });
      onClose(true);
    } catch (error) {
      if (!signal.aborted) setFault(`${plural(sum, "job")} ${done}, then: ${wordsOf(error)}`);
    } finally {
      void queries.invalidateQueries();
    }
  };

  const busy = changed !== undefined && fault === undefined;
  return (
    <Modal title={title} lead={what} onClose={() => onClose(changed !== undefined)}>
      <div className="modal-body">
        <p className="big-count" role="status">
          {busy ? `${count(changed)} ${done} so far…` : found ? countWords(found) : "Counting…"}
        </p>
        {fault && (
          <p className="fault" role="alert">
            {fault}
          </p>
        )}
        <ModalFoot>
          <Button onClick={() => onClose(changed !== undefined)}>{busy ? "Stop" : "Close"}</Button>
          <Button
            kind={action === "retry" ? "main" : "danger"}
            disabled={busy || !found || (found.exact && found.matched === 0)}
            onClick={() => void act()}
          >
            {found ? `${verb} ${found.exact ? plural(found.matched, "job") : "them all"}` : verb}
          </Button>
        </ModalFoot>
      </div>
    </Modal>
  );
}

function countWords({ matched, exact }: { matched: number; exact: boolean }): string {
  if (exact && matched === 0) return "No such job can be changed this way";
  return `${exact ? "" : "At least "}${plural(matched, "job")} of this choice`;
}

function chosen(which: Which): { ids: string[] } | { filter: JobsFilter } | { all: true } {
  if ("ids" in which) return { ids: which.ids };
  return Object.keys(which.filter).length === 0 ? { all: true } : { filter: which.filter };
}
