import type { LiveEvent, Overview, StatsSeries, StatsWindow, Throughput } from "@atlasqueue/contract";
import type { OpenEvents } from "../http/event-stream.ts";
import type { Ask } from "../http/ask.ts";
import type { CallOptions } from "../http/transport.ts";

/** Of a queue, a type, a type in a queue, or of everything. */
export type SeriesChoice = { window?: StatsWindow; queue?: string; type?: string };

export type StatsCalls = ReturnType<typeof statsCalls>;

export const statsCalls = (ask: Ask, open: OpenEvents) => ({
  /** What happened to jobs in a window, the last hour by default, in steps without gaps. Rejects with ValidationError. */
  series: (query: SeriesChoice = {}, call?: CallOptions): Promise<StatsSeries> =>
    ask("GET", ["stats", "series"], call, { query }),
  /** Jobs that succeeded and attempts that failed in the last hour, of up to 100 queues. Rejects with ValidationError. */
  throughput: (queues: readonly string[], call?: CallOptions): Promise<Throughput> =>
    ask("GET", ["stats", "throughput"], call, { query: { queues: queues.join(",") } }),
  /** How things are, and what is wrong now. */
  overview: (call?: CallOptions): Promise<Overview> => ask("GET", ["overview"], call),
  /**
   * What happens, as it happens: counts of the queues named, or of the first 100, and finished jobs. One connection
   * long: it ends when the server ends it or the signal aborts, and throws when the connection cannot be made or
   * breaks. Call it again then; it begins with all counts.
   */
  async *events(
    { queues }: { queues?: readonly string[] } = {},
    call?: Pick<CallOptions, "signal" | "timeoutMs">,
  ): AsyncGenerator<LiveEvent, void, undefined> {
    const query = { queues: queues?.join(",") };
    for await (const { event, data } of open({ method: "GET", path: "/v1/events", query, repeat: "always" }, call)) {
      // A newer server may tell more.
      if (Object.hasOwn(known, event)) yield { event, data: JSON.parse(data) as unknown } as LiveEvent;
    }
  },
});

const known: Record<LiveEvent["event"], true> = { counts: true, finished: true, end: true };
