const again_ms = 60_000;

/** Says each line at most once a minute. */
export function onceAMinute(tell: (line: string) => void = () => {}): (line: string) => void {
  const said = new Map<string, number>();
  return (line) => {
    const now = performance.now();
    for (const [one, at] of said) if (now - at >= again_ms) said.delete(one);
    if (said.has(line)) return;
    said.set(line, now);
    tell(line);
  };
}
