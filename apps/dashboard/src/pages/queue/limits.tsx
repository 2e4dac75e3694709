import { useState, type FormEvent } from "react";
import type { OneQueue, Queue, QueueLimits } from "@atlasqueue/contract";
import { client } from "../../api/client.ts";
import { useAct } from "../../api/act.ts";
import { oneQueueKey, queuesKey } from "../../api/queues.ts";
import { useMay } from "../../api/session.ts";
import { Button } from "../../components/button.tsx";
import { Field, numberIn, SelectField } from "../../components/field.tsx";
import { Modal, ModalFoot } from "../../components/modal.tsx";
import { Card, Facts } from "../../components/page.tsx";
import { Meter } from "../../components/spark.tsx";
import { count, span } from "../../lib/format.ts";

/** What a queue may do at once, and how much of that it does. */
export function Limits({ queue }: { queue: OneQueue }) {
  const [editing, setEditing] = useState(false);
  const may = useMay("admin");
  const { concurrency, group_concurrency, rate, group_rate, fair_by } = queue.limits;
  const none = <span className="quiet">no limit</span>;
  return (
    <Card
      title="Limits"
      actions={
        may && (
          <Button icon="edit" onClick={() => setEditing(true)}>
            Set limits
          </Button>
        )
      }
    >
      <Facts
        of={[
          [
            "Concurrency",
            concurrency === null ? none : <Meter value={queue.counts.running} max={concurrency} label="Running" />,
          ],
          [
            "Rate",
            rate === null ? (
              none
            ) : (
              <>
                <Meter value={queue.starts ?? 0} max={rate.limit} label="Starts in the period" /> in{" "}
                {span(rate.period_seconds * 1_000)}
              </>
            ),
          ],
          ["Concurrency per group", group_concurrency === null ? "1, ordered" : count(group_concurrency)],
          ["Rate per group", group_rate === null ? none : rateWords(group_rate)],
          ["Scheduling", fair_by === "group" ? "round-robin by group" : "first in, first out"],
        ]}
      />
      {editing && <LimitsDialog queue={queue} onClose={() => setEditing(false)} />}
    </Card>
  );
}

function rateWords({ limit, period_seconds }: NonNullable<QueueLimits["rate"]>): string {
  return `${count(limit)} in ${span(period_seconds * 1_000)}`;
}

function LimitsDialog({ queue, onClose }: { queue: Queue; onClose: () => void }) {
  const { concurrency, group_concurrency, rate, group_rate, fair_by } = queue.limits;
  const [by, setBy] = useState(fair_by);
  const [form, setForm] = useState(() => ({
    concurrency: text(concurrency),
    group_concurrency: text(group_concurrency),
    rate: text(rate?.limit),
    rate_seconds: text(rate?.period_seconds ?? 1),
    group_rate: text(group_rate?.limit),
    group_rate_seconds: text(group_rate?.period_seconds ?? 1),
  }));
  const set = (name: keyof typeof form) => ({
    type: "number",
    min: 0,
    step: "any",
    value: form[name],
    onChange: ({ target }: { target: { value: string } }) => setForm({ ...form, [name]: target.value }),
  });
  const save = useAct({
    send: (limits: QueueLimits) => client.setLimits(queue.queue, limits),
    expect: (limits) => [
      {
        key: queuesKey,
        to: (all: Queue[]) => all.map((each) => (each.queue === queue.queue ? { ...each, limits } : each)),
      },
      { key: oneQueueKey(queue.queue), to: (one: Queue | null) => one && { ...one, limits } },
    ],
    what: "set the limits",
    done: () => "The limits are set",
    touches: [queuesKey, oneQueueKey(queue.queue)],
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const limits = {
      concurrency: numberIn(form.concurrency) ?? null,
      group_concurrency: numberIn(form.group_concurrency) ?? null,
      rate: rateIn(form.rate, form.rate_seconds),
      group_rate: rateIn(form.group_rate, form.group_rate_seconds),
      fair_by: by,
    };
    save.mutate(limits, { onSuccess: onClose });
  };
  return (
    <Modal title={`Limits of ${queue.queue}`} lead="Leave a field empty for its default." onClose={onClose}>
      <form onSubmit={submit}>
        <div className="fields two">
          <Field label="Concurrency" {...set("concurrency")} />
          <Field label="Concurrency per group" hint="default 1, ordered" {...set("group_concurrency")} />
          <Field label="Rate: max starts" {...set("rate")} />
          <Field label="per (seconds)" {...set("rate_seconds")} />
          <Field label="Rate per group: max starts" {...set("group_rate")} />
          <Field label="per (seconds)" {...set("group_rate_seconds")} />
          <SelectField
            label="Scheduling"
            hint="Round-robin can't be combined with concurrency or rate limits"
            value={by ?? ""}
            onChange={({ target }) => setBy(target.value === "group" ? "group" : null)}
          >
            <option value="">first in, first out</option>
            <option value="group">round-robin by group</option>
          </SelectField>
        </div>
        <ModalFoot>
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="main" type="submit" disabled={save.isPending}>
            Set limits
          </Button>
        </ModalFoot>
      </form>
    </Modal>
  );
}

function text(value: number | null | undefined): string {
  return value === null || value === undefined ? "" : String(value);
}

function rateIn(limit: string, seconds: string): QueueLimits["rate"] {
  const jobs = numberIn(limit);
  return jobs === undefined ? null : { limit: jobs, period_seconds: numberIn(seconds) ?? 1 };
}
