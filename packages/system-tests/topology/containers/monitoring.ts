import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { eventually } from "@atlasqueue/harness";
import type { Tour } from "./tour.ts";

type Target = { health: string; labels: { job: string } };
type Rules = { groups: { name: string; rules: { name: string; health: string }[] }[] };
type AlertFile = { groups: { name: string; rules: { alert: string }[] }[] };

const minute_ms = 60_000;

/** Part of the containers' tour: what the profile `monitoring` of docker-compose.yml starts, but for Grafana. */
export function testMonitoring(tour: () => Tour): void {
  test(
    "with the profile of monitoring Prometheus reaches each process, and has the rules",
    { timeout: 3 * minute_ms },
    async () => {
      const watched = tour().composeWith({ COMPOSE_PROFILES: "monitoring" });
      await watched.compose(["up", "-d", "--no-recreate", "--no-deps", "prometheus"]);
      const url = await watched.urlOf("prometheus", 9_090);
      const get = async <Data>(path: string) => ((await (await fetch(`${url}${path}`)).json()) as { data: Data }).data;
      // Names are looked up every 10 s, and targets scraped every 15.
      await eventually(
        async () => {
          const { activeTargets } = await get<{ activeTargets: Target[] }>("/api/v1/targets");
          const seen = activeTargets.map(({ labels, health }) => `${labels.job} ${health}`).toSorted();
          expect(seen).toEqual([
            ...Array.from({ length: 2 }, () => "atlasqueue-api up"),
            ...Array.from({ length: 3 }, () => "atlasqueue-worker up"),
          ]);
        },
        { timeout_ms: 2 * minute_ms },
      );
      const written = parse(
        readFileSync(new URL("../../../deploy/monitoring/alerts.yaml", import.meta.url), "utf8"),
      ) as AlertFile;
      const wanted = written.groups.flatMap(({ rules }) => rules.map(({ alert }) => `${alert} ok`));
      // `unknown` until each was evaluated once.
      await eventually(
        async () => {
          const { groups } = await get<Rules>("/api/v1/rules");
          expect(groups.flatMap(({ rules }) => rules.map(({ name, health }) => `${name} ${health}`))).toEqual(wanted);
        },
        { timeout_ms: minute_ms },
      );
      await watched.compose(["rm", "--stop", "--force", "prometheus"]);
    },
  );
}
