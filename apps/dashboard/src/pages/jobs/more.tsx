import { Button } from "../../components/button.tsx";
import { Time } from "../../components/time.tsx";
import { count, plural } from "../../lib/format.ts";
import type { useJobs } from "./list.ts";

/** What stands below the list: how far it goes, and the way on. */
export function More({
  list,
  shown,
  searching,
}: {
  list: ReturnType<typeof useJobs>;
  shown: number;
  searching: boolean;
}) {
  if (!list.data) return null;
  const looked = list.data.pages.reduce((sum, page) => sum + (page.searched?.jobs ?? 0), 0);
  const back_to = list.data.pages.at(-1)?.searched?.back_to;
  const busy = list.isFetchingNextPage;
  // A rare filter ends its look with few matches or none, though there may be more further back.
  const partly = searching || (looked > 0 && list.hasNextPage);
  const found = shown === 0 ? "None" : searching ? plural(shown, "match", "matches") : plural(shown, "job");
  return (
    <div className="rows-foot">
      <span>
        {partly ? `${found} in the newest ${count(looked)} jobs${searching ? "" : " looked at"}` : plural(shown, "job")}
        {partly && back_to && (
          <>
            , made since <Time at={back_to} />
          </>
        )}
        {!list.hasNextPage && shown > 0 && !searching && ", all there are"}
      </span>
      {list.hasNextPage && (
        <Button disabled={busy} onClick={() => void list.fetchNextPage()}>
          {busy ? "Looking…" : partly ? "Look further back" : "Show more"}
        </Button>
      )}
    </div>
  );
}
