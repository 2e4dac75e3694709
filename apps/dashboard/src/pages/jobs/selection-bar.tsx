import { useState } from "react";
import type { JobStatus } from "@atlasqueue/contract";
import { useMay } from "../../api/session.ts";
import { Button } from "../../components/button.tsx";
import { lazyPart } from "../../components/lazy-part.tsx";
import { plural } from "../../lib/format.ts";
import { BulkDialog, type BulkAction as AnyAction } from "./bulk-dialog.tsx";
import type { JobsFilter } from "./filter.ts";
import type { Selection } from "./selection.ts";

const ReplayDialog = lazyPart(() => import("../dead/replay-dialog.tsx"));
const PurgeDialog = lazyPart(() => import("../dead/purge-dialog.tsx"));

/** A purge is of a whole queue, from its page. */
type BulkAction = Exclude<AnyAction, "purge">;

/** Which acts make sense for a list of one status; all of them for a list of any. */
const sensible: Partial<Record<JobStatus, readonly BulkAction[]>> = {
  scheduled: ["cancel"],
  blocked: ["cancel"],
  queued: ["cancel"],
  running: ["cancel"],
  failed: ["retry", "cancel"],
  succeeded: ["delete"],
  dead: ["retry", "delete"],
  cancelled: ["retry", "delete"],
};
const names: Record<BulkAction, string> = { cancel: "Cancel", retry: "Retry", delete: "Delete" };
const icons = { cancel: "close", retry: "replay", delete: "trash" } as const;

/** What can be done with the chosen rows, or with all that the filter finds: only while the list shows some of them. */
export function SelectionBar({
  filter,
  selection,
  found,
}: {
  filter: JobsFilter;
  selection: Selection;
  found: boolean;
}) {
  const [asked, setAsked] = useState<{ action: BulkAction; all: boolean }>();
  const may = useMay("admin");
  const chosen = selection.ids.size;
  const actions = (filter.status && sensible[filter.status]) ?? ["cancel", "retry", "delete"];
  if (!may || (chosen === 0 && Object.keys(filter).length === 0)) return null;
  if (chosen === 0 && isReplayable(filter)) return <AllDead filter={filter} found={found} />;
  if (chosen === 0 && !found && !asked) return null;
  return (
    <div className="selection" data-quiet={chosen === 0 || undefined}>
      <strong>{chosen > 0 ? `${plural(chosen, "job")} selected` : "All that match"}</strong>
      {actions.map((action) => (
        <Button key={action} icon={icons[action]} onClick={() => setAsked({ action, all: chosen === 0 })}>
          {names[action]}
        </Button>
      ))}
      {chosen > 0 && (
        <Button kind="ghost" onClick={selection.clear}>
          Clear
        </Button>
      )}
      {asked && (
        <BulkDialog
          action={asked.action}
          which={asked.all ? { filter } : { ids: [...selection.ids] }}
          onClose={(changed) => {
            setAsked(undefined);
            if (changed) selection.clear();
          }}
        />
      )}
    </div>
  );
}

/** Whether a replay, with its look first, its patch and its pace, can be of just these. */
function isReplayable(filter: JobsFilter): boolean {
  const known = ["status", "queue", "type", "tag", "fingerprint"];
  return filter.status === "dead" && Object.keys(filter).every((name) => known.includes(name));
}

/** All the dead jobs that the filter finds, whether they are on the page or not; both count first. */
function AllDead({ filter: { queue, type, tag, fingerprint }, found }: { filter: JobsFilter; found: boolean }) {
  const [asked, setAsked] = useState<"replay" | "purge">();
  if (!found && !asked) return null;
  const close = () => setAsked(undefined);
  const common = {
    ...(queue === undefined ? {} : { queue }),
    ...(type === undefined ? {} : { type }),
    ...(tag === undefined ? {} : { tag }),
    ...(fingerprint === undefined ? {} : { fingerprint }),
  };
  const which = Object.keys(common).length === 0 ? { all: true as const } : common;
  return (
    <div className="selection" data-quiet>
      <strong>All that match</strong>
      <Button icon="trash" data-tone="bad" onClick={() => setAsked("purge")}>
        Purge
      </Button>
      <Button icon="replay" onClick={() => setAsked("replay")}>
        Replay
      </Button>
      {asked === "replay" && <ReplayDialog which={which} onClose={close} />}
      {asked === "purge" && <PurgeDialog which={which} onClose={close} />}
    </div>
  );
}
