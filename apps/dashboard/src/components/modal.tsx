import type { ReactNode } from "react";
import { Dialog } from "@base-ui/react/dialog";
import { Button } from "./button.tsx";

/** A dialog over the page: focus stays in it, Escape closes it, and focus returns to where it was. */
export function Modal({
  title,
  lead,
  wide = false,
  onClose,
  children,
}: {
  title: string;
  lead?: ReactNode;
  wide?: boolean;
  onClose: () => void;
  children: ReactNode;
}) {
  return (
    <Dialog.Root open onOpenChange={(open) => open || onClose()}>
      <Dialog.Portal>
        <Dialog.Backdrop className="veil" />
        <Dialog.Popup className="modal" data-wide={wide || undefined}>
          <header className="modal-head">
            <Dialog.Title>{title}</Dialog.Title>
            <Dialog.Close render={<Button kind="ghost" icon="close" aria-label="Close" />} />
          </header>
          {lead && (
            <Dialog.Description className="modal-lead soft" render={<div />}>
              {lead}
            </Dialog.Description>
          )}
          {children}
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

/** The buttons at the end of a dialog. */
export function ModalFoot({ children }: { children: ReactNode }) {
  return <footer className="modal-foot">{children}</footer>;
}
