/** What a handler that hogs the processor does, or a process that is stopped for a while. */
export function standStill(ms: number): void {
  for (const end = performance.now() + ms; performance.now() < end;);
}
