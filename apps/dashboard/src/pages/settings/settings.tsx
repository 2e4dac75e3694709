import { useSession, useMay } from "../../api/session.ts";
import { base } from "../../base.ts";
import { Choice } from "../../components/button.tsx";
import { Card, Facts, Page } from "../../components/page.tsx";
import { Time } from "../../components/time.tsx";
import { chooseDensity, chooseTheme, density, theme } from "../../app/theme.ts";
import { useStore } from "../../lib/store.ts";
import { clipped } from "../../lib/visible.ts";
import { Tokens } from "./tokens.tsx";

export function Settings() {
  const session = useSession();
  const may = useMay("admin");
  const chosen = useStore(theme);
  const rows = useStore(density);
  if (!session) return null;
  const { auth, token, tenant, scopes, until, version } = session;
  return (
    <Page title="Settings">
      <div className="grid-2">
        <Card title="Signed in as">
          <Facts
            of={[
              [
                "Token",
                token ? (
                  <bdi key="t">{clipped(token.name)}</bdi>
                ) : auth === "application" ? (
                  "none: the application signs people in"
                ) : (
                  "none: authentication is off"
                ),
              ],
              ["Tenant", tenant ?? "–"],
              ["Scopes", scopes.join(", ") || "none"],
              ["Expires", until === null ? "never" : <Time key="u" at={until} />],
            ]}
          />
        </Card>
        <Card title="This page">
          <Facts
            of={[
              [
                "API",
                <span key="a" className="mono">
                  {base}
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
                "Rows",
                <Choice
                  key="d"
                  label="Rows"
                  of={[
                    ["comfortable", "Comfortable"],
                    ["compact", "Compact"],
                  ]}
                  value={rows}
                  onChange={chooseDensity}
                />,
              ],
              [
                "Reference",
                <a key="r" href={`${base}/docs`}>
                  API reference
                </a>,
              ],
            ]}
          />
        </Card>
      </div>
      {may && auth === "required" && <Tokens own={token?.id} />}
    </Page>
  );
}
