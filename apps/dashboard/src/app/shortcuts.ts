import { useEffect } from "react";
import { useNavigate } from "@tanstack/react-router";
import { queries } from "../api/queries.ts";
import { paused } from "../api/refresh.ts";
import { places } from "./nav.ts";
import { openOverlay, overlay } from "./overlays.ts";

const second_key_ms = 1_200;

/** Whether the key is meant for a field. */
function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.closest("input, textarea, select, [contenteditable]") !== null;
}

function focusSearch(): boolean {
  const field = document.querySelector<HTMLInputElement>("[data-search]");
  field?.focus();
  field?.select();
  return field !== null;
}

/** The keys of every page: ⌘K, /, ?, p and g with a letter. Pages with rows add theirs. */
export function useShortcuts(): void {
  const navigate = useNavigate();
  useEffect(() => {
    let went_ms = -Infinity;
    const press = (event: KeyboardEvent) => {
      if ((event.metaKey || event.ctrlKey) && event.key.toLowerCase() === "k") {
        event.preventDefault();
        openOverlay("palette");
        return;
      }
      if (event.metaKey || event.ctrlKey || event.altKey || isTyping(event.target) || overlay.get()) return;
      if (document.querySelector("[role=dialog], [role=alertdialog]")) return;
      const place = event.timeStamp - went_ms < second_key_ms && places.find(({ key }) => key === event.key);
      went_ms = event.key === "g" ? event.timeStamp : -Infinity;
      if (place) void navigate({ to: place.to });
      else if (event.key === "?") openOverlay("keys");
      else if (event.key === "p") {
        paused.set(!paused.get());
        if (!paused.get()) void queries.invalidateQueries();
      } else if (event.key === "/") {
        event.preventDefault();
        if (!focusSearch()) openOverlay("palette");
      }
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, [navigate]);
}
