import { useEffect, useState, type FormEvent } from "react";
import { AuthError } from "@atlasqueue/client";
import { wordsOf } from "../../api/link.ts";
import { queries } from "../../api/queries.ts";
import { signIn } from "../../api/session.ts";
import { Button } from "../../components/button.tsx";
import { Field } from "../../components/field.tsx";

/** A token for a session. The field is the only place in the page where the token ever is. */
export default function SignIn() {
  const [token, setToken] = useState("");
  const [fault, setFault] = useState<string>();
  const [busy, setBusy] = useState(false);
  useEffect(() => {
    document.title = "Sign in · AtlasQueue";
    // What another session saw is not for the next one.
    queries.clear();
  }, []);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setBusy(true);
    setFault(undefined);
    signIn(token.trim())
      .catch((error: unknown) =>
        setFault(error instanceof AuthError ? "This token is not valid, or not any more" : wordsOf(error)),
      )
      .finally(() => setBusy(false));
  };
  return (
    <main className="sign-in">
      <form className="card" onSubmit={submit}>
        <div className="brand">
          <span className="brand-mark" aria-hidden="true" />
          AtlasQueue
        </div>
        <h1>Sign in</h1>
        <Field
          label="API token"
          type="password"
          name="token"
          autoComplete="off"
          autoFocus
          required
          placeholder="aq_…"
          hint="It is exchanged for a session of at most 12 hours, and kept nowhere in this page."
          fault={fault}
          value={token}
          onChange={({ target }) => setToken(target.value)}
        />
        <Button kind="main" type="submit" disabled={busy || token.trim() === ""}>
          {busy ? "Signing in…" : "Sign in"}
        </Button>
        <details>
          <summary>No token yet?</summary>
          <p className="soft">The first one is made beside the database:</p>
          <pre className="mono">atlasqueue tokens create --name ops --scopes admin</pre>
        </details>
      </form>
    </main>
  );
}
