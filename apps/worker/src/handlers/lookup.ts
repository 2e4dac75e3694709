import dns, { type LookupAddress } from "node:dns";
import type { LookupFunction } from "node:net";
import { isPublicAddress } from "./public-address.ts";

export type LookupRules = {
  /** Also addresses inside the network, and names that only this machine or its network knows. */
  allow_private: boolean;
  /** Instead of the system's. */
  dns_servers?: string[];
};

/** Of each server, and again after twice as long: less than a delivery may take. */
const patience = { timeout: 1_500, tries: 2 };

/**
 * How the sockets of webhooks find their addresses. The system's own look-up has two threads for a whole process and
 * cannot be given up: a few names whose servers never answer would keep the process from dialling anyone, its database
 * included. So DNS is asked directly; the system is only for names that are not in DNS, where inside ones are allowed.
 *
 * The connection goes to the very addresses that were checked, so they cannot change in between. A name that leads
 * inside fails like one that does not exist, and is retried like it: otherwise the error would reveal which names exist
 * inside the network.
 *
 * @example
 * http.request(url, { lookup: lookupOf({ allow_private: false }) });
 */
export function lookupOf({ allow_private, dns_servers }: LookupRules): LookupFunction {
  return async (name, options, callback) => {
    const found = isLocal(name) ? [] : await askDns(name, dns_servers);
    if (found === "no_answer" || (!allow_private && !arePublic(found)))
      return callback(new Error(allow_private ? `DNS has no answer for ${name}` : noPublic(name)), []);
    const [first] = found;
    if (!first) return dns.lookup(name, options, callback);
    return options.all ? callback(null, found) : callback(null, first.address, first.family);
  };
}

const arePublic = (found: readonly LookupAddress[]) =>
  found.length > 0 && found.every(({ address }) => isPublicAddress(address));
const noPublic = (name: string) => `${name} leads to no public address; WEBHOOK_ALLOW_PRIVATE=true allows others`;

/** Never in DNS, or never asked for as it stands: `localhost`, and names for which the system has a suffix. */
const isLocal = (name: string) => !name.replace(/\.$/, "").includes(".") || /\.localhost\.?$/i.test(name);

/** Then the system is quick to say whether it knows the name. */
const notInDns = ["ENOTFOUND", "ENODATA", "ECONNREFUSED"];

/** All addresses of a name; none when it has none. */
async function askDns(name: string, servers: string[] | undefined): Promise<LookupAddress[] | "no_answer"> {
  // A new one knows which servers the system has now.
  const resolver = new dns.promises.Resolver(patience);
  if (servers) resolver.setServers(servers);
  const asked = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
  const found = asked.flatMap((one, at) =>
    one.status === "fulfilled" ? one.value.map((address) => ({ address, family: at === 0 ? 4 : 6 })) : [],
  );
  const has_no_answer = asked.some((one) => one.status === "rejected" && !notInDns.includes(one.reason.code));
  return found.length === 0 && has_no_answer ? "no_answer" : found;
}
