import { useEffect, useState, type FormEvent } from "react";
import { onlyCounted } from "@atlasqueue/client";
import type { JsonObject, ReplayPreview } from "@atlasqueue/contract";
import { client } from "../../api/client.ts";
import { wordsOf } from "../../api/link.ts";
import { queries } from "../../api/queries.ts";
import { toast } from "../../app/toasts.ts";
import { Button } from "../../components/button.tsx";
import { Field, numberIn } from "../../components/field.tsx";
import { JsonField, readJson } from "../../components/json-field.tsx";
import { JsonView } from "../../components/json.tsx";
import { Modal, ModalFoot } from "../../components/modal.tsx";
import { plural } from "../../lib/format.ts";
import { replaysKey } from "./ask.ts";
import { filterOf, nameOf, type Which } from "./which.ts";

const typing_ms = 300;

/** Count and sample first, with the patch as it would be applied; then the replay of those goes on by itself. */
export default function ReplayDialog({ which, onClose }: { which: Which; onClose: () => void }) {
  const [patch, setPatch] = useState("");
  const [rate, setRate] = useState("");
  const [fault, setFault] = useState<string>();
  const [busy, setBusy] = useState(false);
  const read = readJson(patch);
  const look = useLook(which, patch);

  const start = async (event: FormEvent) => {
    event.preventDefault();
    setBusy(true);
    setFault(undefined);
    const pace = numberIn(rate);
    try {
      await client.deadLetters.replays.create({
        filter: onlyCounted(filterOf(which), look.answer?.died_before),
        ...(hasFields(read.value) ? { patch: read.value } : {}),
        ...(pace === undefined ? {} : { rate: pace }),
      });
      toast({ tone: "good", text: "The replay has begun" });
      onClose();
    } catch (error) {
      setFault(wordsOf(error));
    } finally {
      setBusy(false);
      void queries.invalidateQueries({ queryKey: replaysKey });
    }
  };

  const found = look.answer;
  return (
    <Modal title="Replay" lead={`Queues ${nameOf(which)} again, with all their attempts.`} wide onClose={onClose}>
      <form onSubmit={(event) => void start(event)}>
        <p className="big-count" role="status">
          {found ? `${found.complete ? "" : "At least "}${plural(found.matched, "job")}` : (look.fault ?? "Counting…")}
        </p>
        <div className="fields">
          <Field
            label="Rate (jobs per second)"
            type="number"
            min={0.1}
            step="any"
            hint="empty: as fast as possible"
            value={rate}
            onChange={({ target }) => setRate(target.value)}
          />
        </div>
        <JsonField
          label="Patch of the payload"
          hint='JSON merge patch, such as {"to": "new@example.org", "retries": null}; empty: as it was'
          rows={4}
          text={patch}
          onChange={setPatch}
        />
        {found?.sample && hasFields(read.value) && <Sample {...found.sample} />}
        {fault && (
          <p className="fault" role="alert">
            {fault}
          </p>
        )}
        <ModalFoot>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            kind="main"
            type="submit"
            disabled={busy || read.value === undefined || !found || found.matched === 0}
          >
            {found ? `Replay ${found.complete ? plural(found.matched, "job") : "them"}` : "Replay"}
          </Button>
        </ModalFoot>
      </form>
    </Modal>
  );
}

type Look = { answer?: ReplayPreview; fault?: string };

/** What the replay would do with this very patch; asked again when that has been left alone for a moment. */
function useLook(which: Which, patch: string): Look {
  const [look, setLook] = useState<Look & { patch?: string }>({});
  // As text, since the same choice may come as another object with every refresh of the page below.
  const text = JSON.stringify(filterOf(which));
  useEffect(() => {
    const { value } = readJson(patch);
    if (value === undefined) return undefined;
    const asking = new AbortController();
    const later = setTimeout(
      () => {
        const filter = JSON.parse(text) as ReturnType<typeof filterOf>;
        const wanted = { filter, ...(hasFields(value) ? { patch: value } : {}) };
        client.deadLetters.replays.preview(wanted, { signal: asking.signal }).then(
          (answer) => setLook({ answer, patch }),
          (error: unknown) => asking.signal.aborted || setLook({ fault: wordsOf(error), patch }),
        );
      },
      patch === "" ? 0 : typing_ms,
    );
    return () => {
      clearTimeout(later);
      asking.abort();
    };
  }, [text, patch]);
  return look.patch === patch ? look : {};
}

function Sample({ before, after, fits, type }: NonNullable<ReplayPreview["sample"]>) {
  return (
    <div className="stack">
      <h3>
        A sample: <bdi>{type}</bdi>
      </h3>
      {!fits && <p className="fault">The patched payload is too large; this job will be skipped.</p>}
      <div className="grid-2">
        <JsonView label="Before" value={before} />
        <JsonView label="After" value={after} />
      </div>
    </div>
  );
}

function hasFields(value: JsonObject | undefined): value is JsonObject {
  return value !== undefined && Object.keys(value).length > 0;
}
