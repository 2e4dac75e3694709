import { Writable } from "node:stream";
import { createLogger, logEvents, type AtlasEvent } from "@atlasqueue/core";
import { logTexts } from "./log-texts.ts";
import { code, table } from "./table.ts";

/** The level of each event, as a logger writes it. */
function levels(): Map<string, string> {
  const found = new Map<string, string>();
  const destination = new Writable({
    write(line, _encoding, done) {
      const { event, level } = JSON.parse(String(line)) as { event: string; level: string };
      found.set(event, level);
      done();
    },
  });
  const observe = logEvents(createLogger("debug", "docs", destination));
  for (const event of Object.keys(logTexts)) observe({ event } as AtlasEvent);
  return found;
}

export function logTable(): string {
  const levelOf = levels();
  const rows = Object.entries(logTexts).map(([event, when]) => [code(event), levelOf.get(event) ?? "", when]);
  return table(["event", "level", "when"], rows.toSorted());
}
