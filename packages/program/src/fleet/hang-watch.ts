export type HangWatch = { heard(): void; stop(): void };

const looks_max = 4;
/** Several beats fit between two looks. */
const beats_per_look = 4;
const beat_ms_max = 1_000;

/** How often a process says that its event loop turns, where silence of `hang_ms` is taken for a hang. */
export function beatMs(hang_ms: number): number {
  return Math.min(beat_ms_max, hang_ms / looks_max / beats_per_look);
}

/**
 * Call `hung` once nothing was heard for `hang_ms`; never, if that is undefined. Counts looks, not time: after this
 * process itself was held up, its timer runs before it reads what was said meanwhile.
 *
 * @example
 * const watch = onHang(60_000, () => child.kill("SIGKILL"));
 * channel.on("message", watch.heard);
 */
export function onHang(hang_ms: number | undefined, hung: () => void): HangWatch {
  if (hang_ms === undefined) return { heard: () => {}, stop: () => {} };
  let silent_looks = 0;
  const timer = setInterval(() => {
    silent_looks += 1;
    if (silent_looks <= looks_max) return;
    clearInterval(timer);
    hung();
  }, hang_ms / looks_max);
  return { heard: () => void (silent_looks = 0), stop: () => clearInterval(timer) };
}
