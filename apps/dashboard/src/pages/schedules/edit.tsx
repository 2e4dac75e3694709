import { useState, type FormEvent } from "react";
import { ValidationError } from "@atlasqueue/client";
import type { CreateScheduleInput, Schedule } from "@atlasqueue/contract";
import { client } from "../../api/client.ts";
import { wordsOf } from "../../api/link.ts";
import { queries } from "../../api/queries.ts";
import { toast } from "../../app/toasts.ts";
import { Button } from "../../components/button.tsx";
import { Field, numberIn, SelectField } from "../../components/field.tsx";
import { JsonField, readJson } from "../../components/json-field.tsx";
import { Modal, ModalFoot } from "../../components/modal.tsx";
import { schedulesKey } from "./ask.ts";
import { Preview } from "./preview.tsx";

/** A schedule, with its next five runs as one types. */
export default function EditSchedule({ schedule, onClose }: { schedule?: Schedule; onClose: () => void }) {
  const [form, setForm] = useState(() => ({
    name: schedule?.name ?? "",
    cron: schedule?.cron ?? "0 * * * *",
    timezone: schedule?.timezone ?? Intl.DateTimeFormat().resolvedOptions().timeZone,
    catch_up: schedule?.catch_up ?? "one",
    type: schedule?.job.type ?? "",
    queue: schedule?.job.queue ?? "default",
    max_attempts: String(schedule?.job.max_attempts ?? ""),
    payload: JSON.stringify(schedule?.job.payload ?? {}, null, 2),
  }));
  const [error, setError] = useState<unknown>();
  const [busy, setBusy] = useState(false);
  const payload = readJson(form.payload);
  const set = (name: keyof typeof form) => ({
    value: form[name],
    onChange: ({ target }: { target: { value: string } }) => setForm({ ...form, [name]: target.value }),
  });
  const errors = error instanceof ValidationError ? error.errors : [];
  const fault = (pointer: string) => errors.find((each) => each.pointer === pointer)?.message;

  const save = async (event: FormEvent) => {
    event.preventDefault();
    if (payload.value === undefined) return;
    setBusy(true);
    setError(undefined);
    const { max_attempts: _, ...kept } = schedule?.job ?? {};
    const max_attempts = numberIn(form.max_attempts);
    const wanted: CreateScheduleInput = {
      name: form.name.trim(),
      cron: form.cron,
      timezone: form.timezone,
      catch_up: form.catch_up,
      job: {
        // What the form does not show stays as it is.
        ...kept,
        type: form.type,
        queue: form.queue,
        payload: payload.value,
        ...(max_attempts !== undefined && { max_attempts }),
      },
    };
    try {
      await (schedule ? client.schedules.put(wanted) : client.schedules.create(wanted));
      toast({ tone: "good", text: `${wanted.name} is saved` });
      await queries.invalidateQueries({ queryKey: schedulesKey });
      onClose();
    } catch (thrown) {
      setError(thrown);
    } finally {
      setBusy(false);
    }
  };

  return (
    <Modal title={schedule ? `Edit ${schedule.name}` : "New schedule"} wide onClose={onClose}>
      <form onSubmit={(event) => void save(event)}>
        <div className="fields">
          <Field label="Name" required readOnly={schedule !== undefined} fault={fault("/name")} {...set("name")} />
          <Field label="Cron" required hint="minute hour day month weekday" fault={fault("/cron")} {...set("cron")} />
          <Field label="Time zone" required fault={fault("/timezone")} {...set("timezone")} />
        </div>
        <Preview cron={form.cron} timezone={form.timezone} />
        <div className="fields">
          <Field label="Job type" required fault={fault("/job/type")} {...set("type")} />
          <Field label="Queue" required fault={fault("/job/queue")} {...set("queue")} />
          <Field
            label="Max attempts"
            type="number"
            min={1}
            hint="the queue's default if empty"
            fault={fault("/job/max_attempts")}
            {...set("max_attempts")}
          />
          <SelectField label="Missed runs" {...set("catch_up")}>
            <option value="one">run once</option>
            <option value="all">run all</option>
            <option value="none">skip</option>
          </SelectField>
          <JsonField
            label="Payload"
            rows={5}
            text={form.payload}
            onChange={(text) => setForm({ ...form, payload: text })}
          />
        </div>
        {error !== undefined && (
          <p className="fault" role="alert">
            {wordsOf(error)}
          </p>
        )}
        <ModalFoot>
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="main" type="submit" disabled={busy || payload.value === undefined}>
            Save
          </Button>
        </ModalFoot>
      </form>
    </Modal>
  );
}
