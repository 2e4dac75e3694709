import { useRef, useState, type FormEvent } from "react";
import { useNavigate } from "@tanstack/react-router";
import { ValidationError } from "@atlasqueue/client";
import type { SubmitJobInput } from "@atlasqueue/contract";
import { client } from "../../api/client.ts";
import { wordsOf } from "../../api/link.ts";
import { queries } from "../../api/queries.ts";
import { toast } from "../../app/toasts.ts";
import { Button } from "../../components/button.tsx";
import { Field, numberIn, SelectField } from "../../components/field.tsx";
import { JsonField, readJson } from "../../components/json-field.tsx";
import { Modal, ModalFoot } from "../../components/modal.tsx";
import { jobsKey } from "./list.ts";

type Props = { onClose: () => void; queue?: string; like?: SubmitJobInput };

/** A form for what `POST /v1/jobs` takes. The API checks it, and its faults stand at their fields. */
export default function NewJob({ onClose, queue = "default", like }: Props) {
  const [form, setForm] = useState(() => ({
    type: like?.type ?? "",
    queue: like?.queue ?? queue,
    payload: JSON.stringify(like?.payload ?? {}, null, 2),
    priority: String(like?.priority ?? 0),
    max_attempts: String(like?.max_attempts ?? ""),
    timeout_seconds: like?.timeout_seconds === undefined ? "" : String(like.timeout_seconds),
    delay_seconds: "",
    expires_in: "",
    group: like?.group ?? "",
    unique: "",
    idempotency_key: "",
    backoff: like?.backoff?.kind ?? "",
    backoff_seconds: String(like?.backoff?.base_seconds ?? 5),
  }));
  const [error, setError] = useState<unknown>();
  const [busy, setBusy] = useState(false);
  const navigate = useNavigate();
  /** What was sent, and under which key: the same again, as after a lost answer, makes no second job. */
  const sent = useRef({ request: "", key: "" });
  const payload = readJson(form.payload);
  const set = (name: keyof typeof form) => ({
    value: form[name],
    onChange: ({ target }: { target: { value: string } }) => setForm({ ...form, [name]: target.value }),
  });
  const fault = faultsOf(error);

  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (payload.value === undefined) return;
    setBusy(true);
    setError(undefined);
    try {
      const wanted = requestOf(form, payload.value);
      const request = JSON.stringify(wanted);
      if (sent.current.request !== request) sent.current = { request, key: newKey() };
      const { job, created } = await client.submit({ idempotency_key: sent.current.key, ...wanted });
      toast({ tone: "good", text: created ? "Job submitted" : "This job already exists; opening it" });
      void queries.invalidateQueries({ queryKey: jobsKey });
      onClose();
      void navigate({ to: "/ui/jobs/$id", params: { id: job.id } });
    } catch (thrown) {
      setError(thrown);
    } finally {
      setBusy(false);
    }
  };

  return (
    <Modal title={like ? "Duplicate job" : "New job"} wide onClose={onClose}>
      <form onSubmit={(event) => void submit(event)}>
        <div className="fields">
          <Field label="Type" required autoFocus placeholder="mail.send" fault={fault("type")} {...set("type")} />
          <Field label="Queue" required fault={fault("queue")} {...set("queue")} />
          <JsonField label="Payload" text={form.payload} onChange={(text) => setForm({ ...form, payload: text })} />
        </div>
        <details className="more-options">
          <summary>Options</summary>
          <div className="fields">
            <Field
              label="Delay"
              type="number"
              min={0}
              step="any"
              hint="seconds from now"
              fault={fault("delay_seconds")}
              {...set("delay_seconds")}
            />
            <Field
              label="Expires in"
              type="number"
              min={1}
              hint="seconds until it is cancelled if no attempt has begun"
              fault={fault("expires_in")}
              {...set("expires_in")}
            />
            <Field label="Priority" type="number" hint="higher first" fault={fault("priority")} {...set("priority")} />
            <Field
              label="Max attempts"
              type="number"
              min={1}
              hint="the queue's default if empty"
              fault={fault("max_attempts")}
              {...set("max_attempts")}
            />
            <Field
              label="Timeout"
              type="number"
              min={1}
              hint="seconds an attempt may take"
              fault={fault("timeout_seconds")}
              {...set("timeout_seconds")}
            />
            <Field label="Group" hint="its jobs run in order" fault={fault("group")} {...set("group")} />
            <Field
              label="Unique key"
              hint="only one active job with this key"
              fault={fault("unique")}
              {...set("unique")}
            />
            <Field
              label="Idempotency key"
              hint="submitting the same key again returns this job"
              fault={fault("idempotency_key")}
              {...set("idempotency_key")}
            />
            <SelectField label="Backoff" {...set("backoff")}>
              <option value="">Default</option>
              <option value="exponential">Exponential</option>
              <option value="fixed">Fixed</option>
            </SelectField>
            {form.backoff !== "" && (
              <Field
                label="Initial delay"
                type="number"
                min={0}
                step="any"
                hint="seconds"
                {...set("backoff_seconds")}
              />
            )}
          </div>
        </details>
        {error !== undefined && (
          <p className="fault" role="alert">
            {wordsOf(error)}
          </p>
        )}
        <ModalFoot>
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="main" type="submit" disabled={busy || payload.fault !== undefined || form.type === ""}>
            Submit
          </Button>
        </ModalFoot>
      </form>
    </Modal>
  );
}

const newKey = () =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");

function requestOf(form: Record<string, string>, payload: SubmitJobInput["payload"]) {
  const number = (name: string) => numberIn(form[name] ?? "");
  const text = (name: string) => form[name]?.trim() || undefined;
  const base_seconds = number("backoff_seconds") ?? 5;
  const kind = text("backoff") as "exponential" | "fixed" | undefined;
  const fields = {
    type: form["type"] ?? "",
    queue: text("queue"),
    payload,
    priority: number("priority"),
    max_attempts: number("max_attempts"),
    timeout_seconds: number("timeout_seconds"),
    delay_seconds: number("delay_seconds"),
    expires_in: number("expires_in"),
    group: text("group"),
    unique: text("unique") && { key: text("unique") },
    backoff: kind && { kind, base_seconds },
    idempotency_key: text("idempotency_key"),
  };
  // What is left empty is not sent, so that the API's own defaults count.
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as SubmitJobInput;
}

/** The API's fault with a field, by the first part of its pointer. */
function faultsOf(error: unknown): (field: string) => string | undefined {
  const errors = error instanceof ValidationError ? error.errors : [];
  return (field) => errors.find(({ pointer }) => pointer.split("/")[1] === field)?.message;
}
