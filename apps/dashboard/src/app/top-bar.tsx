import { Button } from "../components/button.tsx";
import { Icon } from "../components/icon.tsx";
import { paused } from "../api/refresh.ts";
import { queries } from "../api/queries.ts";
import { signOut, useSession } from "../api/session.ts";
import { useStore } from "../lib/store.ts";
import { openOverlay, palette_key } from "./overlays.ts";
import { chooseTheme, theme, type Theme } from "./theme.ts";

const after: Record<Theme, Theme> = { system: "light", light: "dark", dark: "system" };
const icons = { system: "system", light: "sun", dark: "moon" } as const;

export function TopBar() {
  return (
    <div className="top">
      <button type="button" className="find" onClick={() => openOverlay("palette")}>
        <Icon name="search" />
        <span>Find a page, queue or id</span>
        <kbd>{palette_key}</kbd>
      </button>
      <div className="actions">
        <Refresh />
        <ThemeButton />
        <Button
          className="keys-button"
          kind="ghost"
          aria-label="All keys"
          title="All keys (?)"
          onClick={() => openOverlay("keys")}
        >
          ?
        </Button>
        <Who />
      </div>
    </div>
  );
}

function Refresh() {
  const still = useStore(paused);
  const toggle = () => {
    paused.set(!still);
    if (still) void queries.invalidateQueries();
  };
  return (
    <Button
      kind="ghost"
      icon={still ? "play" : "pause"}
      aria-pressed={still}
      title={still ? "Refreshing is paused (p)" : "The page is live (p)"}
      onClick={toggle}
    >
      {still ? "Paused" : "Live"}
    </Button>
  );
}

function ThemeButton() {
  const chosen = useStore(theme);
  const next = after[chosen];
  return (
    <Button
      kind="ghost"
      icon={icons[chosen]}
      aria-label={`Theme: ${chosen}; switch to ${next}`}
      title={`Theme: ${chosen}`}
      onClick={() => chooseTheme(next)}
    />
  );
}

function Who() {
  const session = useSession();
  if (session?.auth !== "required" || !session.signed_in) return null;
  return (
    <Button kind="ghost" title={`Signed in with ${session.token?.name ?? "a token"}`} onClick={() => void signOut()}>
      Sign out
    </Button>
  );
}
