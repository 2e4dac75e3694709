import { useSession, useMay } from "../../api/session.ts";
import { Choice } from "../../components/button.tsx";
import { Card, Facts, Page } from "../../components/page.tsx";
import { Time } from "../../components/time.tsx";
import { chooseTheme, theme } from "../../app/theme.ts";
import { useStore } from "../../lib/store.ts";
import { clipped } from "../../lib/visible.ts";
import { Tokens } from "./tokens.tsx";

export function Settings() {
  const session = useSession();
  const may = useMay("admin");
  const chosen = useStore(theme);
  if (!session) return null;
  const { auth, token, tenant, scopes, until, version } = session;
  return (
    <Page title="Settings">
      <div className="grid-2">
        <Card title="Signed in as">
          <Facts
            of={[
              ["Token", token ? <bdi key="t">{clipped(token.name)}</bdi> : "none: this API asks for no token"],
              ["Tenant", tenant ?? "–"],
              ["May", scopes.join(", ") || "nothing"],
              ["Until", until === null ? "no end" : <Time key="u" at={until} />],
            ]}
          />
        </Card>
        <Card title="This page">
          <Facts
            of={[
              [
                "API",
                <span key="a" className="mono">
                  {location.origin}
                </span>,
              ],
              ["Version", version],
              [
                "Theme",
                <Choice
                  key="th"
                  label="Theme"
                  of={[
                    ["system", "System"],
                    ["light", "Light"],
                    ["dark", "Dark"],
                  ]}
                  value={chosen}
                  onChange={chooseTheme}
                />,
              ],
              [
                "Reference",
                <a key="r" href="/docs">
                  The whole API
                </a>,
              ],
            ]}
          />
        </Card>
      </div>
      {may && auth === "required" && <Tokens own={token?.id} />}
      {auth === "disabled" && (
        <Card title="Tokens">
          <p className="soft">
            Nothing checks who calls this API. With <code>AUTH=required</code> it asks for a token, and people sign in
            here with one.
          </p>
        </Card>
      )}
    </Page>
  );
}
