import { useEffect, useRef, useState } from "react";
import { onlyCounted } from "@atlasqueue/client";
import type { BulkAnswer } from "@atlasqueue/contract";
import { client } from "../../api/client.ts";
import { wordsOf } from "../../api/link.ts";
import { queries } from "../../api/queries.ts";
import { toast } from "../../app/toasts.ts";
import { Button } from "../../components/button.tsx";
import { Modal, ModalFoot } from "../../components/modal.tsx";
import { count, plural } from "../../lib/format.ts";
import { groupsKey } from "./ask.ts";
import { filterOf, nameOf, type Which } from "./which.ts";

/** Deletes dead letters for good, after saying how many. */
export default function PurgeDialog({ which, onClose }: { which: Which; onClose: () => void }) {
  const [found, setFound] = useState<BulkAnswer>();
  const [gone, setGone] = useState<number>();
  const [fault, setFault] = useState<string>();
  const stop = useRef(new AbortController());
  // As text, since the same choice may come as another object with every refresh of the page below.
  const filter = JSON.stringify(filterOf(which));
  useEffect(() => {
    const asking = new AbortController();
    stop.current = new AbortController();
    client.deadLetters
      .purge(JSON.parse(filter) as ReturnType<typeof filterOf>, { dryRun: true }, { signal: asking.signal })
      .then(setFound, (error: unknown) => asking.signal.aborted || setFault(wordsOf(error)));
    return () => {
      asking.abort();
      stop.current.abort();
    };
  }, [filter]);
  const purge = async () => {
    const { signal } = stop.current;
    const counted = onlyCounted(filterOf(which), found?.died_before);
    let sum = 0;
    setGone(0);
    setFault(undefined);
    try {
      for (let left = true; left && !signal.aborted;) {
        const answer = await client.deadLetters.purge(counted, {}, { signal });
        sum += answer.changed;
        setGone(sum);
        left = answer.changed > 0 && answer.changed < answer.matched;
      }
      toast({ tone: "good", text: `${plural(sum, "dead letter")} purged` });
      onClose();
    } catch (error) {
      if (!signal.aborted) {
        setGone(undefined);
        setFault(`${plural(sum, "dead letter")} purged, then: ${wordsOf(error)}`);
      }
    } finally {
      void queries.invalidateQueries({ queryKey: groupsKey });
    }
  };
  return (
    <Modal title="Purge" lead={`Deletes ${nameOf(which)} for good, with their history.`} onClose={onClose}>
      <div className="modal-body">
        <p className="big-count" role="status">
          {gone !== undefined
            ? `${count(gone)} deleted so far…`
            : found
              ? `${found.complete === false ? "At least " : ""}${plural(found.matched, "job")}`
              : "Counting…"}
        </p>
        {fault && (
          <p className="fault" role="alert">
            {fault}
          </p>
        )}
        <ModalFoot>
          <Button onClick={onClose}>{gone === undefined ? "Cancel" : "Stop"}</Button>
          <Button kind="danger" disabled={!found?.matched || gone !== undefined} onClick={() => void purge()}>
            {found?.matched
              ? `Delete ${found.complete === false ? "all of them" : plural(found.matched, "job")}`
              : "Delete"}
          </Button>
        </ModalFoot>
      </div>
    </Modal>
  );
}
