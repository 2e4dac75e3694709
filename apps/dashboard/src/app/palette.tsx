import { useLayoutEffect, useRef, useState, type KeyboardEvent } from "react";
import { useNavigate } from "@tanstack/react-router";
import { Icon, type IconName } from "../components/icon.tsx";
import { useQueueNames } from "../api/queues.ts";
import { clipped } from "../lib/visible.ts";
import { places } from "./nav.ts";

type Item = { name: string; kind: string; icon: IconName; go: () => void };
const items_max = 12;
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/**
 * ⌘K: go anywhere by typing a part of its name; a job or a flow by its id. The browser's own dialog is there at once: one
 * whose code has to come first loses what is typed meanwhile.
 */
export function Palette({ onClose }: { onClose: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => {
    const shown = dialog.current;
    shown?.showModal();
    // Closed before it goes, it gives the focus back.
    return () => shown?.close();
  }, []);
  const [text, setText] = useState("");
  const [at, setAt] = useState(0);
  const found = useItems(text.trim());
  const choose = (item: Item | undefined) => {
    if (!item) return;
    onClose();
    item.go();
  };
  const press = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) {
      event.preventDefault();
      setAt((now) => Math.max(0, Math.min(found.length - 1, now + step)));
    } else if (event.key === "Enter") choose(found[at]);
  };
  return (
    <dialog
      ref={dialog}
      className="modal palette"
      aria-label="Find"
      onClose={({ currentTarget }) => currentTarget.open || onClose()}
      onPointerDown={({ target, currentTarget }) => target === currentTarget && onClose()}
    >
      <div className="palette-field">
        <Icon name="search" />
        <input
          role="combobox"
          aria-label="Find a page, queue or id"
          aria-expanded="true"
          aria-controls="palette-items"
          aria-activedescendant={found[at] ? `palette-${at}` : undefined}
          placeholder="Find a page, queue or id"
          spellCheck={false}
          value={text}
          onKeyDown={press}
          onChange={({ target }) => {
            setText(target.value);
            setAt(0);
          }}
        />
      </div>
      <ul id="palette-items" role="listbox" aria-label="Found">
        {found.map((item, index) => (
          <li
            key={`${item.kind} ${item.name}`}
            id={`palette-${index}`}
            role="option"
            aria-selected={index === at}
            onPointerMove={() => setAt(index)}
            onClick={() => choose(item)}
          >
            <Icon name={item.icon} />
            <bdi className="clip">{clipped(item.name)}</bdi>
            <span className="quiet">{item.kind}</span>
          </li>
        ))}
      </ul>
      {found.length === 0 && <p className="palette-none soft">No results</p>}
    </dialog>
  );
}

function useItems(text: string): Item[] {
  const navigate = useNavigate();
  const queues = useQueueNames();
  if (uuid.test(text))
    return [
      { name: text, kind: "Job", icon: "jobs", go: () => void navigate({ to: "/ui/jobs/$id", params: { id: text } }) },
      {
        name: text,
        kind: "Flow",
        icon: "flows",
        go: () => void navigate({ to: "/ui/flows/$id", params: { id: text } }),
      },
    ];
  const all: Item[] = [
    ...places.map(({ name, icon, to }): Item => ({ name, kind: "Page", icon, go: () => void navigate({ to }) })),
    ...queues.map((queue): Item => ({
      name: queue,
      kind: "Queue",
      icon: "queues",
      go: () => void navigate({ to: "/ui/queues/$queue", params: { queue } }),
    })),
  ];
  const wanted = text.toLowerCase();
  const found = all.filter(({ name }) => name.toLowerCase().includes(wanted));
  const search: Item = {
    name: `Search jobs for “${text}”`,
    kind: "Jobs",
    icon: "search",
    go: () => void navigate({ to: "/ui/jobs", search: { search: text } }),
  };
  return [...found.slice(0, items_max), ...(text === "" ? [] : [search])];
}
