import { useDeferredValue, useState } from "react";
import { useNavigate, useSearch } from "@tanstack/react-router";
import type { Queue } from "@atlasqueue/contract";
import { Icon } from "../../components/icon.tsx";
import { Card, Page } from "../../components/page.tsx";
import { Answered, Empty } from "../../components/states.tsx";
import { plural } from "../../lib/format.ts";
import { useQueues } from "../../api/queues.ts";
import { useWorkers } from "../../api/workers.ts";
import { Choice } from "../../components/button.tsx";
import { inOrder, isUnserved, orders, type Order } from "./order.ts";
import { QueueRows } from "./rows.tsx";

/** All queues, those with trouble first. */
export function Queues() {
  const queues = useQueues();
  const { order = "wrong" } = useSearch({ from: "/ui/queues" });
  const navigate = useNavigate();
  const reorder = (next: Order) =>
    void navigate({ to: "/ui/queues", search: next === "wrong" ? {} : { order: next }, replace: true });
  const [text, setText] = useState("");
  const wanted = useDeferredValue(text.trim().toLowerCase());
  return (
    <Page title="Queues" lead={queues.data && plural(queues.data.length, "queue")}>
      <Card flush>
        <div className="card-head">
          <div className="filters">
            <div className="search">
              <Icon name="search" />
              <input
                className="input"
                data-search
                aria-label="Filter by name"
                placeholder="Filter by name"
                value={text}
                onChange={({ target }) => setText(target.value)}
              />
            </div>
            <Choice label="Order" of={orders} value={order} onChange={reorder} />
          </div>
        </div>
        <Answered to={queues}>{(all) => <Found all={all} wanted={wanted} order={order} onOrder={reorder} />}</Answered>
      </Card>
    </Page>
  );
}

type FoundProps = { all: readonly Queue[]; wanted: string; order: Order; onOrder: (order: Order) => void };

function Found({ all, wanted, order, onOrder }: FoundProps) {
  const workers = useWorkers().data;
  const found = wanted === "" ? all : all.filter(({ queue }) => queue.toLowerCase().includes(wanted));
  if (all.length === 0)
    return (
      <Empty icon="queues" title="No queues yet">
        A queue is there as soon as it has a job. Submit one on the Jobs page.
      </Empty>
    );
  if (found.length === 0) return <Empty icon="search" title={`No queue matches “${wanted}”`} />;
  const unserved = new Set(found.filter((one) => isUnserved(one, workers)).map(({ queue }) => queue));
  return <QueueRows of={inOrder(found, order, workers)} unserved={unserved} order={order} onOrder={onOrder} />;
}
