import { useState } from "react";
import type { CreatedToken, Token } from "@atlasqueue/contract";
import { client } from "../../api/client.ts";
import { queries, useLive } from "../../api/queries.ts";
import { slow_refresh_ms } from "../../api/refresh.ts";
import { Button } from "../../components/button.tsx";
import { Confirm } from "../../components/confirm.tsx";
import { Card } from "../../components/page.tsx";
import { Answered } from "../../components/states.tsx";
import { Text } from "../../components/text.tsx";
import { MaybeTime, Time } from "../../components/time.tsx";
import { NewToken, ShownOnce } from "./new-token.tsx";

const tokensKey = ["tokens"] as const;
type Open = { what: "new" } | { what: "shown"; token: CreatedToken } | { what: "rotate" | "revoke"; token: Token };

/** The tenant's tokens: create, rotate and revoke them. */
export function Tokens({ own }: { own: string | undefined }) {
  const tokens = useLive({
    key: tokensKey,
    ask: (signal) => client.tokens.list({ signal }),
    every_ms: slow_refresh_ms,
  });
  const [open, setOpen] = useState<Open>();
  const close = () => setOpen(undefined);
  const show = (token: CreatedToken) => {
    setOpen({ what: "shown", token });
    void queries.invalidateQueries({ queryKey: tokensKey });
  };
  return (
    <Card
      title="Tokens"
      flush
      actions={
        <Button icon="plus" onClick={() => setOpen({ what: "new" })}>
          New token
        </Button>
      }
    >
      <Answered to={tokens} rows={3}>
        {(all) => <TokenTable of={all} own={own} onOpen={setOpen} />}
      </Answered>
      {open?.what === "new" && <NewToken onMade={show} onClose={close} />}
      {open?.what === "shown" && <ShownOnce token={open.token} onClose={close} />}
      {open?.what === "rotate" && (
        <Confirm
          title={`Rotate ${open.token.name}?`}
          verb="Rotate"
          danger={false}
          act={async () => {
            const made = await client.tokens.rotate(open.token.id);
            // After the dialog has closed itself.
            setTimeout(() => show(made));
          }}
          onClose={close}
        >
          You get a new token with the same scopes. The old one still works for a day.
        </Confirm>
      )}
      {open?.what === "revoke" && (
        <Confirm
          title={`Revoke ${open.token.name}?`}
          verb="Revoke"
          act={async () => {
            await client.tokens.revoke(open.token.id);
            await queries.invalidateQueries({ queryKey: tokensKey });
          }}
          onClose={close}
        >
          Requests with this token fail within five seconds.
          {open.token.id === own && " You signed in with this token, so you will be signed out."}
        </Confirm>
      )}
    </Card>
  );
}

function TokenTable({
  of,
  own,
  onOpen,
}: {
  of: readonly Token[];
  own: string | undefined;
  onOpen: (open: Open) => void;
}) {
  return (
    <div className="scroll-x">
      <table className="table">
        <thead>
          <tr>
            <th>Name</th>
            <th>Prefix</th>
            <th>Scopes</th>
            <th>Last used</th>
            <th>Expires</th>
            <th>
              <span className="unseen">What to do</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {of.map((token) => (
            <tr key={token.id}>
              <td>
                <span className="with-tag">
                  <Text of={token.name} />
                  {token.id === own && <span className="tag">yours</span>}
                </span>
              </td>
              <td className="mono soft">{token.hint}…</td>
              <td className="soft">{token.scopes.join(", ")}</td>
              <td className="soft" data-name="last used">
                <MaybeTime at={token.last_used_at} />
              </td>
              <td className="soft" data-name="ends">
                {token.expires_at === null ? "never" : <Time at={token.expires_at} />}
              </td>
              <td>
                <div className="row-actions">
                  <Button kind="ghost" icon="replay" onClick={() => onOpen({ what: "rotate", token })}>
                    Rotate
                  </Button>
                  <Button kind="ghost" icon="trash" onClick={() => onOpen({ what: "revoke", token })}>
                    Revoke
                  </Button>
                </div>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
