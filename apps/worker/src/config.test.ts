import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readWorkerConfig } from "./config.ts";

const read = (WORKER_TENANTS: string | undefined) =>
  readWorkerConfig({ DATABASE_URL: "postgres://127.0.0.1/atlasqueue", WORKER_TENANTS }).tenants;

test("a worker serves the default tenant, the named ones, or all of them", () => {
  expect(read(undefined)).toEqual(["default"]);
  expect(read("acme, beta,acme")).toEqual(["acme", "beta"]);
  expect(read("*")).toBe("*");
});

test.each(["a b", "*,acme", "acme*,beta"])("WORKER_TENANTS=%s is refused, saying what it takes", (given) => {
  expect(() => read(given)).toThrow("WORKER_TENANTS must be names of tenants, separated by commas, or * for all; got");
});

test("a worker takes jobs of all types, or of those named", () => {
  const types = (WORKER_TYPES: string | undefined) =>
    readWorkerConfig({ DATABASE_URL: "postgres://127.0.0.1/atlasqueue", WORKER_TYPES }).types;
  expect([types(undefined), types("mail.send, report.make")]).toEqual([undefined, ["mail.send", "report.make"]]);
  expect(() => types(",")).toThrow(
    "WORKER_TYPES must be 1 to 100 types of jobs, separated by commas, each a string of",
  );
});

test("a worker serves all cells, or those named", () => {
  const CELLS_FILE = join(mkdtempSync(join(tmpdir(), "cells-")), "cells.json");
  const cells = ["home", "b", "c"].map((name) => ({ name, DATABASE_URL: `postgres://${name}/atlasqueue` }));
  writeFileSync(CELLS_FILE, JSON.stringify(cells));
  const served = (WORKER_CELLS: string | undefined) =>
    readWorkerConfig({ CELLS_FILE, WORKER_CELLS }).cells.map(({ name }) => name);
  expect([served(undefined), served("*"), served("c, b")]).toEqual([
    ["home", "b", "c"],
    ["home", "b", "c"],
    ["b", "c"],
  ]);
  expect(() => served("b,d")).toThrow(
    'WORKER_CELLS must be names of cells in CELLS_FILE (home, b, c), or * for all; got "d"',
  );
});

test("queues share WORKER_CONCURRENCY, or have slots of their own", () => {
  const queues = (WORKER_QUEUES: string) => {
    const settings = { DATABASE_URL: "postgres://127.0.0.1/atlasqueue", WORKER_CONCURRENCY: "7", WORKER_QUEUES };
    const config = readWorkerConfig(settings);
    return [config.queues, config.concurrency];
  };
  expect(queues("mail,eu:west,mail")).toEqual([["mail", "eu:west"], 7]);
  expect(queues("mail:20, eu:1:2,reports")).toEqual([{ mail: 20, "eu:1": 2, reports: 7 }, undefined]);
  expect(() => queues("mail:0")).toThrow(
    'WORKER_QUEUES must give a queue 1 to 10000 slots, such as mail:20; got "mail:0"',
  );
  expect(() => queues("mail:2,mail:3")).toThrow('WORKER_QUEUES must name a queue once; got "mail"');
});
