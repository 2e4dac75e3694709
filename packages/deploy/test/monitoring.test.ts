import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { findProgram } from "@atlasqueue/harness";
import { explanationCodes, problemsNow } from "@atlasqueue/contract";
import { expect, onTestFinished, test } from "vitest";
import { parse } from "yaml";

// What the names in it mean is tested where a system runs: packages/system-tests/system/alerts.test.ts.
const root = fileURLToPath(new URL("../../..", import.meta.url));
const file = join(root, "packages/deploy/monitoring/alerts.yaml");
type Rule = { alert: string; expr: string; labels: { severity: string }; annotations: Record<string, string> };
const rules = (parse(readFileSync(file, "utf8")) as { groups: { rules: Rule[] }[] }).groups.flatMap(
  (group) => group.rules,
);
const promtool = (...args: string[]) =>
  spawnSync(`${findProgram("prometheus")?.replace(/prometheus$/, "promtool")}`, args, { encoding: "utf8" });

type Series = Record<string, string>;
/** An hour of a system that is well, a sample a minute. */
const well: Series = {
  'atlasqueue_jobs{status="queued"}': "5x60",
  'atlasqueue_jobs{status="dead"}': "7x60",
  'atlasqueue_jobs_dead_total{job_type="a"}': "7x60",
  'atlasqueue_http_requests_total{status_code="200"}': "0+600x60",
  'atlasqueue_http_requests_total{status_code="503"}': "0+1x60",
  atlasqueue_sweeps_total: "0+49x60",
  atlasqueue_oldest_ready_job_seconds: "2x60",
  'atlasqueue_redis_state{state="up"}': "1x60",
  'atlasqueue_redis_state{state="down"}': "0x60",
  'atlasqueue_worker_slots{instance="a"}': "10x60",
  'atlasqueue_worker_active_jobs{instance="a"}': "9x60",
  atlasqueue_database_statements_waiting: "0 3 0 0x57",
  'atlasqueue_lease_lost_total{during="ack"}': "0x60",
  'atlasqueue_leases_expired_total{outcome="retried"}': "0 1 1x58",
};

/** What is different when an alert is due; nothing: that series is not there. */
const ill: Record<string, Record<string, string | undefined>> = {
  AtlasQueueMetricsMissing: {
    'atlasqueue_jobs{status="queued"}': undefined,
    'atlasqueue_jobs{status="dead"}': undefined,
  },
  AtlasQueueApiErrors: { 'atlasqueue_http_requests_total{status_code="503"}': "0+30x60" },
  AtlasQueueMaintenanceStopped: { atlasqueue_sweeps_total: "100x60" },
  AtlasQueueOldestReadyJob: { atlasqueue_oldest_ready_job_seconds: "300+60x60" },
  AtlasQueueDeadLetters: { 'atlasqueue_jobs{status="dead"}': "7+1x60" },
  AtlasQueueRedisDown: { 'atlasqueue_redis_state{state="up"}': "0x60", 'atlasqueue_redis_state{state="down"}': "1x60" },
  AtlasQueueNoFreeSlots: {
    'atlasqueue_worker_active_jobs{instance="a"}': "10x60",
    atlasqueue_oldest_ready_job_seconds: "90x60",
  },
  AtlasQueuePoolWaiting: { atlasqueue_database_statements_waiting: "4x60" },
  AtlasQueueLeasesLost: { 'atlasqueue_leases_expired_total{outcome="retried"}': "0+1x60" },
};

/** One test of promtool's: at the end of that hour just these alerts fire. */
function during(series: Record<string, string | undefined>, firing: string[]) {
  return {
    interval: "1m",
    input_series: Object.entries(series).flatMap(([name, values]) =>
      values === undefined ? [] : [{ series: name, values }],
    ),
    alert_rule_test: rules.map(({ alert, labels, annotations }) => ({
      eval_time: "50m",
      alertname: alert,
      exp_alerts: firing.includes(alert)
        ? [
            {
              exp_labels: { ...labels, ...(alert === "AtlasQueueMetricsMissing" && { status: "queued" }) },
              exp_annotations: annotations,
            },
          ]
        : [],
    })),
  };
}

test("promtool accepts the configuration that compose mounts", () => {
  const { status, stdout, stderr } = promtool(
    "check",
    "config",
    join(root, "packages/deploy/monitoring/prometheus.yml"),
  );
  expect([status, stdout + stderr]).toEqual([0, expect.stringContaining("alerts.yaml")]);
});

test("promtool finds the rules well-formed", () => {
  const { status, stdout, stderr } = promtool("check", "rules", file);
  expect([status, stderr, stdout]).toEqual([0, "", expect.stringContaining(`${rules.length} rules found`)]);
});

test("each alert fires when it is due, and alone; none does while all is well", () => {
  expect(Object.keys(ill).toSorted()).toEqual(rules.map(({ alert }) => alert).toSorted());
  const tests = [
    during(well, []),
    ...Object.entries(ill).map(([alert, changes]) => during({ ...well, ...changes }, [alert])),
    // Each that dies is replayed.
    during({ ...well, 'atlasqueue_jobs_dead_total{job_type="a"}': "7+1x60" }, ["AtlasQueueDeadLetters"]),
  ];
  const folder = mkdtempSync(join(tmpdir(), "rules-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, "tests.yaml"), JSON.stringify({ rule_files: [file], evaluation_interval: "1m", tests }));
  const { status, stdout, stderr } = promtool("test", "rules", join(folder, "tests.yaml"));
  expect([status, `${stdout}${stderr}`]).toEqual([0, expect.stringContaining("SUCCESS")]);
});

test("each alert says what it means, and has its section in the runbooks; every section is an alert's", () => {
  const sections: string[] = [];
  for (const { annotations, labels, alert } of rules) {
    expect(["critical", "warning"]).toContain(labels.severity);
    expect([alert, annotations["summary"]]).toEqual([alert, expect.stringMatching(/^[A-Z].*\.$/)]);
    const [page = "", section = ""] = annotations["runbook"]?.split("#") ?? [];
    const headings = [
      ...readFileSync(join(root, `${page.replace("/guide/", "apps/docs/pages/")}.md`), "utf8").matchAll(/^## (.+)$/gm),
    ].map(([, title = ""]) =>
      title
        .toLowerCase()
        .replaceAll(/[^\w ]/g, "")
        .replaceAll(" ", "-"),
    );
    expect([alert, headings]).toEqual([alert, expect.arrayContaining([section])]);
    sections.push(section);
    expect(
      headings.filter((heading) => !rules.some((rule) => rule.annotations["runbook"]?.endsWith(`#${heading}`))),
    ).toEqual([]);
  }
  expect(new Set(sections).size).toBe(rules.length);
});

test("no two panels of the dashboard lie on each other, and each says what it shows of what", () => {
  type Panel = {
    id: number;
    type: string;
    title: string;
    gridPos: { x: number; y: number; w: number; h: number };
    targets?: { expr: string; refId: string }[];
  };
  const { panels } = JSON.parse(readFileSync(join(root, "packages/deploy/monitoring/dashboard.json"), "utf8")) as {
    panels: Panel[];
  };
  expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
  const taken = new Set<string>();
  for (const { title, type, targets = [], gridPos } of panels) {
    expect(title).not.toBe("");
    if (type !== "row") expect(targets.length).toBeGreaterThan(0);
    expect(new Set(targets.map(({ refId }) => refId)).size).toBe(targets.length);
    expect(gridPos.x + gridPos.w).toBeLessThanOrEqual(24);
    for (let x = gridPos.x; x < gridPos.x + gridPos.w; x += 1)
      for (let y = gridPos.y; y < gridPos.y + gridPos.h; y += 1) {
        expect([title, taken.has(`${x},${y}`)]).toEqual([title, false]);
        taken.add(`${x},${y}`);
      }
  }
});

test.each([
  ["Why is my job not running?", explanationCodes],
  ["Problems of the overview", problemsNow],
])("troubleshooting has a row for each code, under: %s", (title, codes) => {
  const page = readFileSync(join(root, "apps/docs/pages/operate/troubleshooting.md"), "utf8");
  const section = page.split(/^## /m).find((text) => text.startsWith(`${title}\n`)) ?? "";
  const rows = [...section.matchAll(/^\| (`[^|]*)\|/gm)].flatMap(([, cell = ""]) => cell.match(/\w+/g) ?? []);
  expect(rows.toSorted()).toEqual(codes.toSorted());
});
