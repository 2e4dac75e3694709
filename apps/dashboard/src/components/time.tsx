import { useRelative } from "../lib/clock.ts";
import { exact } from "../lib/format.ts";

/** "12 s ago", with the exact time on hover. */
export function Time({ at }: { at: string }) {
  return (
    <time dateTime={at} title={`${exact(at)} · ${at}`}>
      {useRelative(at)}
    </time>
  );
}

export function MaybeTime({ at }: { at: string | null }) {
  return at === null ? <span className="quiet">–</span> : <Time at={at} />;
}
