import type { Replay } from "@atlasqueue/contract";
import { Link } from "@tanstack/react-router";
import { useAct } from "../../api/act.ts";
import { client } from "../../api/client.ts";
import { useMay } from "../../api/session.ts";
import { Button } from "../../components/button.tsx";
import { Card } from "../../components/page.tsx";
import { Text } from "../../components/text.tsx";
import { Time } from "../../components/time.tsx";
import { count } from "../../lib/format.ts";
import { groupsKey, replaysKey, useReplays } from "./ask.ts";

const tones = { running: undefined, paused: "warning", done: "good", cancelled: "quiet" } as const;

/** How far the replays are; nothing while there never was one. */
export function Replays() {
  const replays = useReplays();
  if (!replays.data || replays.data.length === 0) return null;
  return (
    <Card title="Replays" flush>
      <ul>
        {replays.data.map((replay) => (
          <Item key={replay.id} replay={replay} />
        ))}
      </ul>
    </Card>
  );
}

function Item({ replay }: { replay: Replay }) {
  const { state, matched, matched_complete, replayed, rate, patch, created_by, created_at, left_over } = replay;
  const part = matched === 0 ? 1 : Math.min(1, replayed / matched);
  return (
    <li className="replay" data-tone={tones[state]} data-status={state === "running" ? "running" : undefined}>
      <span className="tag">{state}</span>
      <span className="replay-what">
        <What {...replay} />
        <span className="quiet">
          {rate !== null && `${count(rate)} a second · `}
          {patch !== null && "patched · "}
          {created_by.name !== null && `by ${created_by.name} · `}
          <Time at={created_at} />
          {left_over > 0 && ` · ${count(left_over)} left over`}
        </span>
      </span>
      <span className="replay-bar">
        <svg
          viewBox="0 0 100 6"
          preserveAspectRatio="none"
          role="img"
          aria-label={`${replayed} of ${matched} replayed`}
        >
          <rect width={part * 100} height="6" />
        </svg>
        <span className="num">
          {count(replayed)} of {count(matched)}
          {!matched_complete && "+"}
        </span>
      </span>
      <Controls replay={replay} />
    </li>
  );
}

/** Which dead letters, with a link to those that are left. */
function What(replay: Replay) {
  const { filter } = replay;
  const text = <Text of={filterWords(replay)} />;
  if (("all" in filter && filter.all) || ("ids" in filter && filter.ids)) return text;
  const { type, queue, tag, fingerprint } = filter as {
    type?: string;
    queue?: string;
    tag?: string;
    fingerprint?: string;
  };
  const search = {
    status: "dead" as const,
    ...(type && { type }),
    ...(queue && { queue }),
    ...(tag && { tag }),
    ...(fingerprint && { fingerprint }),
  };
  return (
    <Link to="/ui/jobs" search={search}>
      {text}
    </Link>
  );
}

function Controls({ replay: { id, state } }: { replay: Replay }) {
  const may = useMay("admin");
  const touches = [replaysKey, groupsKey];
  const shown = (next: Replay["state"]) => (changed: string) => [
    {
      key: replaysKey,
      to: (all: Replay[]) => all.map((each) => (each.id === changed ? { ...each, state: next } : each)),
    },
  ];
  const calls = client.deadLetters.replays;
  const pause = useAct({
    send: (of: string) => calls.pause(of),
    expect: shown("paused"),
    what: "pause the replay",
    touches,
  });
  const resume = useAct({
    send: (of: string) => calls.resume(of),
    expect: shown("running"),
    what: "resume the replay",
    touches,
  });
  const cancel = useAct({
    send: (of: string) => calls.cancel(of),
    expect: shown("cancelled"),
    what: "cancel the replay",
    touches,
  });
  if (!may || state === "done" || state === "cancelled") return <span />;
  return (
    <div className="row-actions">
      {state === "running" ? (
        <Button kind="ghost" icon="pause" onClick={() => pause.mutate(id)}>
          Pause
        </Button>
      ) : (
        <Button kind="ghost" icon="play" onClick={() => resume.mutate(id)}>
          Resume
        </Button>
      )}
      <Button kind="ghost" icon="close" onClick={() => cancel.mutate(id)}>
        Cancel
      </Button>
    </div>
  );
}

/** The error itself, where they are of one. */
function filterWords({ filter, error }: Replay): string {
  if ("all" in filter && filter.all) return "All dead letters";
  if ("ids" in filter && filter.ids) return `${count(filter.ids.length)} chosen`;
  return Object.entries(filter)
    .map(([name, value]) =>
      name === "fingerprint" ? `“${error || "no error was given"}”` : `${name.replace("_", " ")} ${String(value)}`,
    )
    .join(", ");
}
