import postgres from "postgres";
import { answer_ms_max } from "../answer-time.ts";

export const own_connections_max = 10;

/** A caller's own connections, which AtlasQueue knows nothing of. */
export const openOwn = (url: string): postgres.Sql =>
  postgres(url, {
    max: own_connections_max,
    // The driver fetches them without a word when a connection opens, and ends the process when it is lost meanwhile.
    fetch_types: false,
    connect_timeout: answer_ms_max / 1_000,
    onnotice: () => {},
    backoff: () => 0.2,
    connection: { application_name: "faults-caller" },
  });
