import { createSocket } from "node:dgram";
import dns, { type LookupAddress } from "node:dns";
import { once } from "node:events";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { lookupOf, type LookupRules } from "./lookup.ts";

/** IPv4 addresses by name; whatever ends in `.silent.test` is never answered, and all else does not exist. */
const known: Record<string, number[][]> = {
  "public.test": [[93, 184, 215, 14]],
  "inside.test": [[10, 0, 0, 1]],
  "mixed.test": [
    [93, 184, 215, 14],
    [10, 0, 0, 1],
  ],
};
const server = createSocket("udp4");
const asked: string[] = [];
beforeAll(async () => {
  server.on("message", (query, from) => {
    const { name, end } = question(query);
    asked.push(name);
    if (name.endsWith(".silent.test")) return;
    const is_ipv4 = query.readUInt16BE(end) === 1;
    const addresses = is_ipv4 ? (known[name] ?? []) : [];
    const head = Buffer.from([
      ...query.subarray(0, 2),
      0x81,
      name in known ? 0x80 : 0x83,
      0,
      1,
      0,
      addresses.length,
      0,
      0,
      0,
      0,
    ]);
    const answers = addresses.map((address) => Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4, ...address]));
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

test.each(["inside.test", "mixed.test", "unknown.test", "localhost", "db", "a.localhost"])(
  "%s leads nowhere, and the error does not say whether it exists",
  async (name) => {
    await expect(lookUp(name)).rejects.toThrow(noPublic(name));
  },
);

test("however many names are never answered, another is found, and no thread of the process waits for them", async () => {
  const system = vi.spyOn(dns, "lookup");
  const silent = Array.from({ length: 100 }, (_, at) => lookUp(`n${at}.silent.test`));
  const over = Promise.allSettled(silent).then(() => "over");
  expect(await lookUp("public.test")).toHaveLength(1);
  expect(await Promise.race([over, "waiting"])).toBe("waiting");
  for (const one of await Promise.allSettled(silent)) expect(one.status).toBe("rejected");
  const allowed = lookUp("n.silent.test", { allow_private: true });
  await expect(allowed).rejects.toThrow("DNS has no answer for n.silent.test");
  expect(system).not.toHaveBeenCalled();
  system.mockRestore();
});

test("where inside addresses are allowed, names in and outside of DNS lead to them", async () => {
  expect(await lookUp("inside.test", { allow_private: true })).toEqual([{ address: "10.0.0.1", family: 4 }]);
  const local = await lookUp("localhost", { allow_private: true });
  expect(local.map(({ address }) => address)).toContainEqual(expect.stringMatching(/^(127\.0\.0\.1|::1)$/));
  expect(asked).not.toContain("localhost");
});
