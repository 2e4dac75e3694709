import { useState } from "react";
import type { Job, JsonObject } from "@atlasqueue/contract";
import { client } from "../../api/client.ts";
import { wordsOf } from "../../api/link.ts";
import { queries } from "../../api/queries.ts";
import { toast } from "../../app/toasts.ts";
import { Button } from "../../components/button.tsx";
import { JsonField, readJson } from "../../components/json-field.tsx";
import { Modal, ModalFoot } from "../../components/modal.tsx";
import { jobKey } from "./ask.ts";

/** The job again, with another payload: all of it is sent, as a merge patch cannot say null. */
export default function EditJob({ job, onClose }: { job: Job; onClose: () => void }) {
  const [text, setText] = useState(() => JSON.stringify(job.payload, null, 2));
  const [fault, setFault] = useState<string>();
  const [busy, setBusy] = useState(false);
  const { value } = readJson(text);
  const send = async (payload: JsonObject) => {
    setBusy(true);
    setFault(undefined);
    try {
      await client.editAndRetry(job.id, { payload });
      toast({ tone: "good", text: "The job is queued again, with its new payload" });
      onClose();
    } catch (error) {
      setFault(wordsOf(error));
    } finally {
      setBusy(false);
      void queries.invalidateQueries({ queryKey: jobKey(job.id) });
    }
  };
  return (
    <Modal title="Edit and retry" lead="It runs again with all its attempts, and this payload." wide onClose={onClose}>
      <div className="modal-body">
        <JsonField label="Payload" rows={14} text={text} onChange={setText} />
        {fault && (
          <p className="fault" role="alert">
            {fault}
          </p>
        )}
        <ModalFoot>
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="main" disabled={busy || value === undefined} onClick={() => value && void send(value)}>
            Retry with this
          </Button>
        </ModalFoot>
      </div>
    </Modal>
  );
}
