import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";
import { useNavigate } from "@tanstack/react-router";
import type { Job } from "@atlasqueue/contract";

export type Selection = {
  ids: ReadonlySet<string>;
  /** The row that the keys act on. */
  current: number;
  toggle(id: string, shift: boolean): void;
  all(on: boolean): void;
  clear(): void;
};

/**
 * Which rows are chosen: by clicks, by a click with Shift, or with j, k and x. Another filter starts anew. The row the keys are
 * on stays the same job as rows move on a refresh; when that has left the list, they begin at its top.
 */
export function useSelection(items: readonly Job[], filter: string): Selection {
  const [chosen, setChosen] = useState<{ ids: ReadonlySet<string>; for: string }>({ ids: new Set(), for: filter });
  const [row, setRow] = useState<{ id: string | undefined; for: string }>();
  const current = items.findIndex(({ id }) => id === row?.id && row.for === filter);
  const ids = useMemo(() => (chosen.for === filter ? chosen.ids : new Set<string>()), [chosen, filter]);
  const navigate = useNavigate();
  const choose = (next: ReadonlySet<string>) => setChosen({ ids: next, for: filter });

  // The same function for as long as the list is there: otherwise each choice would draw every row again.
  const now = useRef({ ids, items, current, filter });
  useLayoutEffect(() => {
    now.current = { ids, items, current, filter };
  });
  const toggle = useCallback((id: string, shift: boolean) => {
    const at = now.current.items.findIndex((item) => item.id === id);
    if (at === -1) return;
    const next = new Set(now.current.ids);
    const add = !next.has(id);
    const from = shift && now.current.current >= 0 ? now.current.current : at;
    for (const item of now.current.items.slice(Math.min(from, at), Math.max(from, at) + 1)) {
      if (add) next.add(item.id);
      else next.delete(item.id);
    }
    setRow({ id, for: now.current.filter });
    setChosen({ ids: next, for: now.current.filter });
  }, []);

  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      const busy =
        event.target instanceof HTMLElement &&
        event.target.closest("input:not([type=checkbox]), textarea, select, button, a, [role=dialog]");
      if (busy || event.metaKey || event.ctrlKey || event.altKey) return;
      const step = { j: 1, k: -1 }[event.key];
      if (step !== undefined) {
        const next = Math.max(0, Math.min(items.length - 1, current + step));
        setRow({ id: items[next]?.id, for: filter });
        document.querySelector(`[aria-rowindex="${next + 2}"]`)?.scrollIntoView({ block: "nearest" });
      }
      const item = items[current];
      if (!item) return;
      if (event.key === "x") toggle(item.id, false);
      if (event.key === "Enter") void navigate({ to: "/ui/jobs/$id", params: { id: item.id } });
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  });

  return {
    ids,
    current,
    toggle,
    all: (on) => choose(on ? new Set(items.map(({ id }) => id)) : new Set()),
    clear: () => choose(new Set()),
  };
}
