import { toast } from "../app/toasts.ts";
import { Button } from "./button.tsx";

/** Pages without TLS other than localhost's have no clipboard of their own; a selection still works there. */
async function copyText(text: string): Promise<void> {
  if ("clipboard" in navigator) return navigator.clipboard.writeText(text);
  const area = document.createElement("textarea");
  area.value = text;
  area.className = "unseen";
  document.body.append(area);
  area.select();
  document.execCommand("copy");
  area.remove();
}

export function Copy({ text, what, children }: { text: string | (() => string); what: string; children?: string }) {
  const copy = () =>
    copyText(typeof text === "string" ? text : text()).then(
      () => toast({ tone: "good", text: `${what} copied` }),
      () => toast({ tone: "bad", text: "The browser did not allow copying" }),
    );
  return (
    <Button
      kind="ghost"
      icon="copy"
      onClick={() => void copy()}
      {...(children ? {} : { "aria-label": `Copy ${what.toLowerCase()}`, title: `Copy ${what.toLowerCase()}` })}
    >
      {children}
    </Button>
  );
}
