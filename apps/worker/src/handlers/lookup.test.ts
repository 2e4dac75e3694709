import { createSocket } from "node:dgram";
import dns, { type LookupAddress } from "node:dns";
import { once } from "node:events";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { lookupOf, type LookupRules } from "./lookup.ts";
import { readSystemNames, resolverIn, type SystemNames } from "./system-names.ts";

/** Addresses by name; whatever ends in `.silent.test` is never answered, of `.failing.test` not well, and all else does not exist. */
const known: Record<string, number[][]> = {
  "public.test": [[93, 184, 215, 14]],
  "inside.test": [[10, 0, 0, 1]],
  "mixed.test": [
    [93, 184, 215, 14],
    [10, 0, 0, 1],
  ],
  "many.test": Array.from({ length: 40 }, (_, at) => [
    [93, 184, 215, at],
    [0x26, 6, ...Array.from({ length: 13 }, () => 0), at],
  ]).flat(),
  "api.dev": [[203, 0, 113, 9]],
  "api.dev.cluster.test": [[10, 0, 0, 2]],
  "db.prod.cluster.test": [[10, 0, 0, 3]],
  "failing.dev.cluster.test": [[10, 0, 0, 4]],
};
const server = createSocket("udp4");
const asked: string[] = [];
beforeAll(async () => {
  server.on("message", (query, from) => {
    const { name, end } = question(query);
    asked.push(name);
    if (name.endsWith(".silent.test")) return;
    const code = name.endsWith(".failing.test") ? 2 : name in known ? 0 : 3;
    const type = query.readUInt16BE(end);
    const addresses = (known[name] ?? []).filter(({ length }) => length === (type === 1 ? 4 : 16));
    const head = Buffer.from([...query.subarray(0, 2), 0x81, 0x80 + code, 0, 1, 0, addresses.length, 0, 0, 0, 0]);
    const answers = addresses.map((address) =>
      Buffer.from([0xc0, 12, 0, type, 0, 1, 0, 0, 0, 0, 0, address.length, ...address]),
    );
    server.send(Buffer.concat([head, query.subarray(12, end + 4), ...answers]), from.port, from.address);
  });
  server.bind(0, "127.0.0.1");
  await once(server, "listening");
});
afterAll(() => server.close());

/** The name a query asks for, and where it ends in it. */
function question(query: Buffer): { name: string; end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString("latin1", at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join(".").toLowerCase(), end: at + 1 };
}

const lookUp = (name: string, rules: Partial<LookupRules> = {}) =>
  new Promise<LookupAddress[]>((resolve, reject) => {
    const lookup = lookupOf({ allow_private: false, dns_servers: [`127.0.0.1:${server.address().port}`], ...rules });
    lookup(name, { all: true }, (error, found) => (error ? reject(error) : resolve(found as LookupAddress[])));
  });
const noPublic = (name: string) => `${name} leads to no public address; WEBHOOK_ALLOW_PRIVATE=true allows others`;

test("a public name leads to its addresses", async () => {
  expect(await lookUp("public.test")).toEqual([{ address: "93.184.215.14", family: 4 }]);
});

test("of a name with many addresses eight of each family are dialled", async () => {
  const found = await lookUp("many.test");
  expect(found.map(({ family }) => family)).toEqual([...Array(8).fill(4), ...Array(8).fill(6)]);
});

test("what dialling the addresses throws is told as the look-up's error", async () => {
  const thrown = new RangeError("Maximum call stack size exceeded");
  const told = await new Promise((resolve) => {
    const lookup = lookupOf({ allow_private: false, dns_servers: [`127.0.0.1:${server.address().port}`] });
    lookup("public.test", { all: true }, (error) => {
      if (error) return resolve(error);
      throw thrown;
    });
  });
  expect(told).toBe(thrown);
});

test.each(["inside.test", "mixed.test", "unknown.test", "localhost", "db", "a.localhost"])(
  "%s leads nowhere, and the error does not say whether it exists",
  async (name) => {
    await expect(lookUp(name)).rejects.toThrow(noPublic(name));
  },
);

test("however many names are never answered, another is found, and no thread waits", { tags: ["slow"] }, async () => {
  const system = vi.spyOn(dns, "lookup");
  const silent = Array.from({ length: 100 }, (_, at) => lookUp(`n${at}.silent.test`));
  const over = Promise.allSettled(silent).then(() => "over");
  expect(await lookUp("public.test")).toHaveLength(1);
  expect(await Promise.race([over, "waiting"])).toBe("waiting");
  const allowed = lookUp("n.silent.test.", { allow_private: true });
  await expect(allowed).rejects.toThrow("DNS has no answer for n.silent.test.");
  for (const one of await Promise.allSettled(silent)) expect(one.status).toBe("rejected");
  expect(system).not.toHaveBeenCalled();
  system.mockRestore();
});

const cluster = {
  hosts: new Map([["pinned.test", [{ address: "10.0.0.9", family: 4 }]]]),
  suffixes: ["prod.cluster.test", "cluster.test"],
  ndots: 5,
};

test("where inside addresses are allowed, names lead where they do elsewhere", { tags: ["slow"] }, async () => {
  const private_to = async (name: string, names: SystemNames = cluster) =>
    (await lookUp(name, { allow_private: true, names })).map(({ address }) => address);
  expect(await private_to("inside.test")).toEqual(["10.0.0.1"]);
  // The hosts file goes before DNS, and suffixes before a name as it stands.
  expect(await private_to("Pinned.test")).toEqual(["10.0.0.9"]);
  expect(await private_to("api.dev")).toEqual(["10.0.0.2"]);
  expect(await private_to("api.dev.")).toEqual(["203.0.113.9"]);
  expect(await private_to("api.dev", { ...cluster, ndots: 1 })).toEqual(["203.0.113.9"]);
  expect(await private_to("db")).toEqual(["10.0.0.3"]);
  // A server that fails for one of them does not hide the next; one that says nothing ends it.
  expect(await private_to("failing.dev", { ...cluster, suffixes: ["failing.test", "cluster.test"] })).toEqual([
    "10.0.0.4",
  ]);
  const silent = { ...cluster, suffixes: ["silent.test"] };
  await expect(private_to("api.dev", silent)).rejects.toThrow("DNS has no answer for api.dev");
  expect(await private_to("localhost")).toContainEqual(expect.stringMatching(/^(127\.0\.0\.1|::1)$/));
  expect(asked).not.toContainEqual(expect.stringContaining("localhost"));
  await expect(private_to("no-such-name.invalid")).rejects.toThrow("no DNS knows no-such-name.invalid");
});

test("the system's own files are read", async () => {
  const { hosts, ndots } = await readSystemNames();
  expect(hosts.get("localhost")?.map(({ address }) => address)).toContain("127.0.0.1");
  expect(ndots).toBeGreaterThanOrEqual(0);
  const text = "# search none\ndomain old\nsearch . a.test b.test.\noptions timeout:1 ndots:5\n";
  expect(resolverIn(text)).toEqual({ suffixes: ["a.test", "b.test"], ndots: 5 });
});
