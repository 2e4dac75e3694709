/** Wait at most `ms`, or until the signal aborts. Never rejects. */
export function pause(ms: number, stop?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (stop?.aborted) return resolve();
    const end = () => {
      clearTimeout(timer);
      stop?.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    stop?.addEventListener("abort", end, { once: true });
  });
}
