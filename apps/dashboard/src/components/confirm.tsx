import { useState, type ReactNode } from "react";
import { wordsOf } from "../api/link.ts";
import { Button } from "./button.tsx";
import { Modal, ModalFoot } from "./modal.tsx";

/** Asks before something that cannot be taken back. It stays open, with the reason, when it is refused. */
export function Confirm({
  title,
  verb,
  keep = "Cancel",
  danger = true,
  children,
  act,
  onClose,
}: {
  title: string;
  verb: string;
  /** The button that changes nothing. */
  keep?: string;
  danger?: boolean;
  children: ReactNode;
  act: () => Promise<unknown>;
  onClose: () => void;
}) {
  const [busy, setBusy] = useState(false);
  const [fault, setFault] = useState<string>();
  const go = () => {
    setBusy(true);
    setFault(undefined);
    act().then(onClose, (error: unknown) => {
      setBusy(false);
      setFault(wordsOf(error));
    });
  };
  return (
    <Modal title={title} onClose={onClose}>
      <div className="modal-body">
        <div className="soft">{children}</div>
        {fault && (
          <p className="fault" role="alert">
            {fault}
          </p>
        )}
        <ModalFoot>
          <Button onClick={onClose}>{keep}</Button>
          <Button kind={danger ? "danger" : "main"} disabled={busy} onClick={go}>
            {verb}
          </Button>
        </ModalFoot>
      </div>
    </Modal>
  );
}
