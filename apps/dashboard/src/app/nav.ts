import type { Scope } from "@atlasqueue/contract";
import type { IconName } from "../components/icon.tsx";

export type Place = { to: string; name: string; key: string; icon: IconName; scope?: Scope };

/** Where one can go, in the order of the side bar. `key`: pressed after g. */
export const places: readonly Place[] = [
  { to: "/", name: "Overview", key: "o", icon: "overview" },
  { to: "/ui/queues", name: "Queues", key: "q", icon: "queues" },
  { to: "/ui/jobs", name: "Jobs", key: "j", icon: "jobs" },
  { to: "/ui/flows", name: "Flows", key: "f", icon: "flows" },
  { to: "/ui/dead", name: "Dead letters", key: "d", icon: "dead" },
  { to: "/ui/schedules", name: "Schedules", key: "s", icon: "schedules" },
  { to: "/ui/workers", name: "Workers", key: "w", icon: "workers" },
  { to: "/ui/activity", name: "Audit log", key: "a", icon: "activity" },
  { to: "/ui/settings", name: "Settings", key: "t", icon: "settings" },
];
