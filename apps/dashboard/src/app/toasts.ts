import { createStore } from "../lib/store.ts";

export type Toast = { id: number; tone: "good" | "bad"; text: string };

const shown_ms = { good: 5_000, bad: 12_000 };
const toasts_max = 4;
let last = 0;

export const toasts = createStore<readonly Toast[]>([]);

/** Say what became of an act. Read out by screen readers; goes by itself, refusals later. */
export function toast({ tone, text }: Omit<Toast, "id">): void {
  last += 1;
  const id = last;
  toasts.set([...toasts.get(), { id, tone, text }].slice(-toasts_max));
  setTimeout(() => dismiss(id), shown_ms[tone]);
}

export function dismiss(id: number): void {
  toasts.set(toasts.get().filter((each) => each.id !== id));
}
