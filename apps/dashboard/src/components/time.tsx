import { useNow, useRelative } from "../lib/clock.ts";
import { coarse, exact } from "../lib/format.ts";

/** "12 s ago", with the exact time on hover. */
export function Time({ at }: { at: string }) {
  return (
    <time dateTime={at} title={`${exact(at)} · ${at}`}>
      {useRelative(at)}
    </time>
  );
}

/** "12 s": for how long something has been so, with since when on hover. */
export function For({ since }: { since: string | null }) {
  const now = useNow();
  if (since === null) return <span className="quiet">–</span>;
  return (
    <time dateTime={since} title={`since ${exact(since)} · ${since}`}>
      {coarse(Math.max(0, now - Date.parse(since)))}
    </time>
  );
}

export function MaybeTime({ at }: { at: string | null }) {
  return at === null ? <span className="quiet">–</span> : <Time at={at} />;
}
