import dns, { type LookupAddress } from "node:dns";
import type { LookupFunction } from "node:net";
import { isPublicAddress } from "./public-address.ts";
import { candidates, readSystemNames, type SystemNames } from "./system-names.ts";

export type LookupRules = {
  /** Also addresses inside the network, and names that only this machine or its network knows. */
  allow_private: boolean;
  /** Instead of the system's. */
  dns_servers?: string[];
  names?: SystemNames;
};

type Found = readonly LookupAddress[] | "unknown" | "no_answer";

/**
 * How the sockets of webhooks find their addresses. The system's own look-up has two threads for a whole process and
 * cannot be given up: a few names whose servers never answer would keep the process from dialling anyone, its database
 * included. So DNS is asked directly, for names as they stand; where inside ones are allowed, the machine's hosts and the
 * suffixes of its network come first as they do for all its programs.
 *
 * The connection goes to the very addresses that were checked, so they cannot change in between. A name that leads
 * inside fails like one that does not exist, and is retried like it: otherwise the error would reveal which names exist
 * inside the network.
 *
 * @example
 * http.request(url, { lookup: lookupOf({ allow_private: false }) });
 */
export function lookupOf(rules: LookupRules): LookupFunction {
  return (name, options, callback) => {
    const answer = (found: Found): void => {
      if (!rules.allow_private && !arePublic(found)) return callback(new Error(noPublic(name)), []);
      if (found === "no_answer") return callback(new Error(`DNS has no answer for ${name}`), []);
      if (found === "unknown")
        return isOfSystem(name) ? dns.lookup(name, options, callback) : callback(new Error(`no DNS knows ${name}`), []);
      const [first] = found;
      return options.all ? callback(null, [...found]) : callback(null, first?.address ?? "", first?.family);
    };
    const failed = (error: unknown) => callback(error instanceof Error ? error : new Error(String(error)), []);
    // What Node throws as it dials is its socket's error too, and not the end of the process.
    (rules.allow_private ? findAnywhere(name, rules) : findPublic(name, rules)).then(answer).catch(failed);
  };
}

const arePublic = (found: Found) => Array.isArray(found) && found.every(({ address }) => isPublicAddress(address));
const noPublic = (name: string) => `${name} leads to no public address; WEBHOOK_ALLOW_PRIVATE=true allows others`;

/** It has other means than DNS for these, and nobody far away decides how long they take. */
const isOfSystem = (name: string) => !name.includes(".") || isLocalhost(name) || /\.local\.?$/i.test(name);

/** Such names are never in DNS (RFC 6761). */
const isLocalhost = (name: string) => /(^|\.)localhost\.?$/i.test(name);

const findPublic = async (name: string, { dns_servers }: LookupRules): Promise<Found> =>
  name.includes(".") && !isLocalhost(name) ? foundBy(await ask(name, dns_servers)) : "unknown";

async function findAnywhere(name: string, { dns_servers, names }: LookupRules): Promise<Found> {
  const system = names ?? (await readSystemNames());
  const known = system.hosts.get(name.toLowerCase());
  if (known) return known;
  if (isLocalhost(name)) return "unknown";
  let fails = false;
  for (const candidate of candidates(name, system)) {
    const answer = await ask(candidate, dns_servers);
    if (answer === "silent" || Array.isArray(answer)) return foundBy(answer);
    fails ||= answer === "fails";
  }
  return fails ? "no_answer" : "unknown";
}

type Answer = readonly LookupAddress[] | "unknown" | "fails" | "silent";

const foundBy = (answer: Answer): Found => (answer === "fails" || answer === "silent" ? "no_answer" : answer);

/** Of each server, and again after twice as long: less than a delivery may take. */
const patience = { timeout: 1_500, tries: 2 };
/**
 * Of each family. A name may have thousands, each of which would be checked, and dialled where those before it fail, in one
 * turn of the event loop: Node goes through them by recursion, until the stack overflows where all fail at once.
 */
const addresses_max = 8;
/** How DNS says that it does not know a name, and what there is to hear where there is none. */
const codesOfUnknown = ["ENOTFOUND", "ENODATA", "ECONNREFUSED"];

/** The addresses of a name as it stands, of thousands some. */
async function ask(name: string, servers: string[] | undefined): Promise<Answer> {
  // A new one knows which servers the system has now.
  const resolver = new dns.promises.Resolver(patience);
  if (servers) resolver.setServers(servers);
  const asked = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
  const found = asked.flatMap((one, at) =>
    one.status === "fulfilled"
      ? one.value.slice(0, addresses_max).map((address) => ({ address, family: at === 0 ? 4 : 6 }))
      : [],
  );
  if (found.length > 0) return found;
  const codes = asked.flatMap((one) => (one.status === "rejected" ? [String(one.reason.code)] : []));
  if (codes.every((code) => codesOfUnknown.includes(code))) return "unknown";
  return codes.includes("ETIMEOUT") ? "silent" : "fails";
}
