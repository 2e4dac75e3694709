import { useState } from "react";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import type { DeadGroup } from "@atlasqueue/contract";
import { useMay } from "../../api/session.ts";
import { Button } from "../../components/button.tsx";
import { lazyPart } from "../../components/lazy-part.tsx";
import { Card, Page } from "../../components/page.tsx";
import { Answered, Empty } from "../../components/states.tsx";
import { plural } from "../../lib/format.ts";
import { useGroups } from "./ask.ts";
import { GroupTable } from "./groups.tsx";
import { Replays } from "./replays.tsx";
import type { Which } from "./which.ts";

const ReplayDialog = lazyPart(() => import("./replay-dialog.tsx"));
const PurgeDialog = lazyPart(() => import("./purge-dialog.tsx"));

type Open = { what: "replay" | "purge"; which: Which };

/** What failed for good, grouped by why; each group can be replayed or purged after a look. */
export function Dead() {
  const { type } = useSearch({ from: "/ui/dead" });
  const navigate = useNavigate();
  const [pages, setPages] = useState(1);
  const groups = useGroups(type, pages);
  const [open, setOpen] = useState<Open>();
  const may = useMay("admin");
  const close = () => setOpen(undefined);
  const which: Which = type === undefined ? { all: true } : { type };
  const total = groups.data?.items.reduce((sum, { count }) => sum + count, 0) ?? 0;
  return (
    <Page
      title="Dead letters"
      lead={groups.data && leadOf(groups.data, total)}
      actions={
        may &&
        total > 0 && (
          <>
            <Button icon="trash" data-tone="bad" onClick={() => setOpen({ what: "purge", which })}>
              Purge {type ? "this type" : "all"}
            </Button>
            <Button kind="main" icon="replay" onClick={() => setOpen({ what: "replay", which })}>
              Replay {type ? "this type" : "all"}
            </Button>
          </>
        )
      }
    >
      {type !== undefined && (
        <div className="filters">
          <Button icon="close" onClick={() => void navigate({ to: "/ui/dead", search: {} })}>
            Only {type}
          </Button>
        </div>
      )}
      <Replays />
      <Card
        title="By error"
        flush
        actions={
          <Link to="/ui/jobs" search={{ status: "dead" }}>
            View as list
          </Link>
        }
      >
        <Answered to={groups}>
          {({ items, more }) =>
            items.length === 0 ? (
              <Empty icon="check" title="No dead letters">
                A job that fails at its last attempt comes here, and waits for a person.
              </Empty>
            ) : (
              <>
                <GroupTable of={items} onAct={(what, group) => setOpen({ what, which: whichOf(group) })} />
                {more && (
                  <p className="rows-foot">
                    <Button onClick={() => setPages(pages + 1)}>Show more groups</Button>
                  </p>
                )}
              </>
            )
          }
        </Answered>
      </Card>
      {open?.what === "replay" && <ReplayDialog which={open.which} onClose={close} />}
      {open?.what === "purge" && <PurgeDialog which={open.which} onClose={close} />}
    </Page>
  );
}

function whichOf({ type, fingerprint, error }: DeadGroup): Which {
  return { type, fingerprint, error };
}

function leadOf({ items, more }: { items: readonly DeadGroup[]; more: boolean }, total: number): string {
  const complete = !more && items.every(({ count_complete }) => count_complete);
  return `${complete ? "" : "at least "}${plural(total, "job")} in ${more ? "more than " : ""}${plural(items.length, "group")}`;
}
