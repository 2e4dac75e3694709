import { useState, type FormEvent } from "react";
import type { CreatedToken, Scope } from "@atlasqueue/contract";
import { client } from "../../api/client.ts";
import { wordsOf } from "../../api/link.ts";
import { Button } from "../../components/button.tsx";
import { Copy } from "../../components/copy.tsx";
import { Field, SelectField } from "../../components/field.tsx";
import { Modal, ModalFoot } from "../../components/modal.tsx";

const meanings: Record<Scope, string> = {
  submit: "submit, cancel and retry jobs",
  read: "see everything",
  work: "lease jobs and report how they ended",
  metrics: "read metrics and queue scaling",
  admin: "everything, tokens included",
};
const scopes = Object.keys(meanings) as Scope[];
const day_s = 86_400;

export function NewToken({ onMade, onClose }: { onMade: (token: CreatedToken) => void; onClose: () => void }) {
  const [name, setName] = useState("");
  const [chosen, setChosen] = useState<readonly Scope[]>(["read"]);
  const [days, setDays] = useState("90");
  const [fault, setFault] = useState<string>();
  const [busy, setBusy] = useState(false);
  const toggle = (scope: Scope) =>
    setChosen(chosen.includes(scope) ? chosen.filter((each) => each !== scope) : [...chosen, scope]);
  const make = (event: FormEvent) => {
    event.preventDefault();
    setFault(undefined);
    setBusy(true);
    const expires = days === "" ? {} : { expires_in_seconds: Number(days) * day_s };
    client.tokens
      .create({ name: name.trim(), scopes: [...chosen], ...expires })
      .then(onMade, (error: unknown) => setFault(wordsOf(error)))
      .finally(() => setBusy(false));
  };
  return (
    <Modal title="New token" onClose={onClose}>
      <form onSubmit={make}>
        <Field
          label="Name"
          required
          autoFocus
          placeholder="what it is for"
          value={name}
          onChange={({ target }) => setName(target.value)}
        />
        <fieldset className="scopes">
          <legend>Scopes</legend>
          {scopes.map((scope) => (
            <label key={scope} className="check">
              <input type="checkbox" checked={chosen.includes(scope)} onChange={() => toggle(scope)} />
              <strong>{scope}</strong> <span className="quiet">{meanings[scope]}</span>
            </label>
          ))}
        </fieldset>
        <SelectField label="Expires" value={days} onChange={({ target }) => setDays(target.value)}>
          <option value="1">in a day</option>
          <option value="30">in 30 days</option>
          <option value="90">in 90 days</option>
          <option value="365">in a year</option>
          <option value="">never</option>
        </SelectField>
        {fault && (
          <p className="fault" role="alert">
            {fault}
          </p>
        )}
        <ModalFoot>
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="main" type="submit" disabled={busy || name.trim() === "" || chosen.length === 0}>
            Create token
          </Button>
        </ModalFoot>
      </form>
    </Modal>
  );
}

/** The only time that a token is shown. */
export function ShownOnce({ token, onClose }: { token: CreatedToken; onClose: () => void }) {
  return (
    <Modal title={token.name} lead="Copy this token now. You won't see it again." onClose={onClose}>
      <div className="modal-body">
        <div className="block token">
          <pre tabIndex={0} role="region" aria-label="Token">
            {token.token}
          </pre>
        </div>
        <ModalFoot>
          <Copy text={token.token} what="Token">
            Copy
          </Copy>
          <Button kind="main" onClick={onClose}>
            Done
          </Button>
        </ModalFoot>
      </div>
    </Modal>
  );
}
