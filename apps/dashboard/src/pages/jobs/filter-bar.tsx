import { useState, type ClipboardEvent, type FormEvent } from "react";
import { useNavigate } from "@tanstack/react-router";
import { client } from "../../api/client.ts";
import { useQueueNames } from "../../api/queues.ts";
import { Button } from "../../components/button.tsx";
import { Icon } from "../../components/icon.tsx";
import { clipped } from "../../lib/visible.ts";
import { changed, type JobsFilter } from "./filter.ts";

type Props = { filter: JobsFilter; onChange: (filter: JobsFilter) => void };

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const fields = [
  ["type", "Type"],
  ["group", "Group"],
  ["tag", "Tag"],
  ["key", "Idempotency key"],
] as const;

/** What to list. Choices count at once, texts with Enter or on leaving the field. */
export function FilterBar({ filter, onChange }: Props) {
  const queues = useQueueNames();
  const set = (change: Parameters<typeof changed>[1]) => onChange(changed(filter, change));
  const [open, setOpen] = useState(false);
  const used = Object.keys(filter).filter((name) => name !== "search" && name !== "status").length;
  return (
    <div className="filters">
      <div className="search">
        <Icon name="search" />
        <TextField
          name="Search in payload, result and error"
          value={filter.search}
          onSet={(search) => set({ search })}
          search
        />
      </div>
      <Button className="filters-toggle" icon="settings" aria-expanded={open} onClick={() => setOpen(!open)}>
        {used === 0 ? "Filters" : `Filters (${used})`}
      </Button>
      <div className="filters-rest" data-open={open || undefined}>
        <select
          className="select queue-select"
          aria-label="Queue"
          value={filter.queue ?? ""}
          onChange={({ target }) => set({ queue: target.value || undefined })}
        >
          <option value="">All queues</option>
          {filter.queue && !queues.slice(0, 500).includes(filter.queue) && <option>{filter.queue}</option>}
          {queues.slice(0, 500).map((queue) => (
            <option key={queue}>{queue}</option>
          ))}
        </select>
        <span className="filter-break" />
        {fields.map(([field, name]) => (
          <TextField key={field} name={name} value={filter[field]} onSet={(text) => set({ [field]: text })} />
        ))}
        <TimeField name="From" value={filter.created_after} onSet={(created_after) => set({ created_after })} />
        <TimeField name="To" value={filter.created_before} onSet={(created_before) => set({ created_before })} />
        <Chips filter={filter} onRemove={(name) => set({ [name]: undefined })} />
      </div>
    </div>
  );
}

/** Filters that are only set by links. */
function Chips({ filter, onRemove }: { filter: JobsFilter; onRemove: (name: "worker" | "fingerprint") => void }) {
  return (["worker", "fingerprint"] as const).flatMap((name) => {
    const value = filter[name];
    if (value === undefined) return [];
    return [
      <button key={name} type="button" className="chip" onClick={() => onRemove(name)}>
        {name === "worker" ? "Worker" : "Error"} <bdi className="mono">{clipped(value, 24)}</bdi>
        <Icon name="close" />
        <span className="unseen">Remove</span>
      </button>,
    ];
  });
}

type TextProps = {
  name: string;
  value: string | undefined;
  onSet: (text: string | undefined) => void;
  search?: boolean;
};

function TextField({ name, value = "", onSet, search = false }: TextProps) {
  const [text, setText] = useState(value);
  const [from, setFrom] = useState(value);
  // Set from elsewhere: a link, or "clear the filter".
  if (from !== value) {
    setFrom(value);
    setText(value);
  }
  const set = () => text.trim() !== value && onSet(text.trim() || undefined);
  const navigate = useNavigate();
  /** The id of a job opens it. Of anything else, such as an id in a payload, it is a search. */
  const find = (wanted: string) =>
    void client.get(wanted).then(
      ({ id }) => navigate({ to: "/ui/jobs/$id", params: { id } }),
      () => onSet(wanted),
    );
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (search && uuid.test(text.trim())) find(text.trim());
    else set();
  };
  const paste = (event: ClipboardEvent) => {
    const pasted = event.clipboardData.getData("text").trim();
    if (search && uuid.test(pasted)) find(pasted);
  };
  return (
    <form className={search ? "search-form" : "filter-form"} onSubmit={submit}>
      <input
        className="input"
        aria-label={name}
        placeholder={name}
        spellCheck={false}
        maxLength={search ? 200 : 512}
        data-search={search || undefined}
        value={text}
        onBlur={set}
        onPaste={paste}
        onChange={({ target }) => setText(target.value)}
      />
      {search && text.trim() !== value && <kbd className="enter-hint">Enter searches</kbd>}
    </form>
  );
}

function TimeField({ name, value, onSet }: Omit<TextProps, "search">) {
  return (
    <label className="time-field">
      <span>{name}</span>
      <input
        className="input"
        type="datetime-local"
        value={value ? local(value) : ""}
        onChange={({ target }) => onSet(target.value === "" ? undefined : new Date(target.value).toISOString())}
      />
    </label>
  );
}

/** As the field wants it: the reader's own time, without a zone. */
function local(at: string): string {
  const date = new Date(at);
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}
