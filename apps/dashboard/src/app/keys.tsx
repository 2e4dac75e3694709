import { Modal } from "../components/modal.tsx";
import { places } from "./nav.ts";
import { palette_key } from "./overlays.ts";

const general: readonly (readonly [string, string])[] = [
  [palette_key, "Find a page, queue, job or flow"],
  ["/", "Search on this page"],
  ["p", "Pause or resume refreshing"],
  ["?", "This list"],
  ["Esc", "Close"],
];
const rows: readonly (readonly [string, string])[] = [
  ["j  k", "Next, previous row"],
  ["x", "Select the row"],
  ["Shift + click", "Select up to here"],
  ["Enter", "Open the row"],
];

export default function Keys({ onClose }: { onClose: () => void }) {
  return (
    <Modal title="Keys" onClose={onClose}>
      <div className="keys">
        <KeyList title="Everywhere" of={general} />
        <KeyList title="In lists" of={rows} />
        <KeyList title="Go to" of={places.map(({ key, name }) => [`g  ${key}`, name])} />
      </div>
    </Modal>
  );
}

function KeyList({ title, of }: { title: string; of: readonly (readonly [string, string])[] }) {
  return (
    <section>
      <h3>{title}</h3>
      <dl>
        {of.map(([keys, does]) => (
          <div key={keys}>
            <dt>
              {keys.split("  ").map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
