import { tcpProxy, type TcpProxy } from "@atlasqueue/harness/servers";

export type Links = {
  /** The way from a process to a server, by name: made at the first call, and the same ever after. */
  between(from: string, to: string): Promise<TcpProxy>;
  /** By its name: `worker-1>postgres`. */
  named(name: string): TcpProxy;
  names(): string[];
  /** Where a server is found from now on; its open connections are cut if it is another one. */
  serve(to: string, url: string): void;
  /** Undoes whatever was done to it, and cuts what is left of the time before. */
  heal(link: TcpProxy): void;
  close(): Promise<void>;
};

/** The name of a link. */
export const linkName = (from: string, to: string): string => `${from}>${to}`;

/** A proxy for each pair of a process and a server, so that each can be broken alone. */
export function openLinks(): Links {
  const urls = new Map<string, string>();
  const links = new Map<string, { to: string; link: TcpProxy }>();
  return {
    async between(from, to) {
      const name = linkName(from, to);
      const known = links.get(name);
      if (known) return known.link;
      const url = urls.get(to);
      if (url === undefined) throw new Error(`nothing serves ${to} yet`);
      const link = await tcpProxy(url);
      links.set(name, { to, link });
      return link;
    },
    named(name) {
      const found = links.get(name);
      if (!found) throw new Error(`there is no link ${name}`);
      return found.link;
    },
    names: () => [...links.keys()],
    serve(to, url) {
      const moved = urls.has(to) && urls.get(to) !== url;
      urls.set(to, url);
      if (!moved) return;
      for (const one of links.values()) {
        if (one.to !== to) continue;
        one.link.pointAt(url);
        one.link.reset();
      }
    },
    heal(link) {
      link.delay(0);
      link.cutAnswersAfter(Infinity);
      link.cutQuestionsAfter(Infinity);
      link.heal();
      link.reset();
    },
    async close() {
      await Promise.all([...links.values()].map(({ link }) => link.close()));
    },
  };
}
