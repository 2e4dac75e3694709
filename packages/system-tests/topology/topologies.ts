import type { ProgramName } from "@atlasqueue/harness/programs";

type Place = {
  what: string;
  programs: readonly ProgramName[];
  /** Takes too long for every change: `all` leaves it out. */
  long?: boolean;
};

/** The places in which the system is run whole, each in the test file of its name, and what each needs from the machine. */
export const topologies: Readonly<Record<string, Place>> = {
  pooler: {
    what: "API and workers behind a PgBouncer in transaction mode that is restarted under load",
    programs: ["pgbouncer"],
  },
  "pooler-prepared": {
    what: "the same with a PgBouncer that keeps prepared statements",
    programs: ["newer_pgbouncer"],
  },
  "black-hole": {
    what: "connections to PostgreSQL that fall silent without being cut, the API's and the workers'",
    programs: [],
  },
  "failover-sync": {
    what: "a PostgreSQL with a synchronous standby that takes over, through a moving proxy, HAProxy and by a URL of both",
    programs: ["haproxy", "psql"],
  },
  "failover-async": {
    what: "the same with a standby that lags 300 ms behind, and loses that much",
    programs: [],
  },
  patroni: {
    what: "three PostgreSQL kept by Patroni and etcd whose leader is switched, killed and cut off, by URL and HAProxy",
    programs: ["postgresql", "patroni", "etcd", "haproxy"],
  },
  sentinel: {
    what: "signals through a Redis whose master, chosen by three sentinels, is killed, frozen and demoted under load",
    programs: [],
  },
  cluster: {
    what: "signals through a Redis Cluster whose shards fail over, move and are lost under load",
    programs: [],
  },
  tls: {
    what: "signals over TLS with certificates on both sides, as a user with no more rights than needed",
    programs: ["openssl"],
  },
  valkey: {
    what: "signals through Valkey, which is killed, frozen and filled under load",
    programs: ["valkey"],
  },
  processes: {
    what: "4 API processes on one port and 8 of workers, behind a PgBouncer, of which some are killed under load",
    programs: ["pgbouncer"],
  },
  cells: {
    what: "4 cells on two PostgreSQL, of which one stops, behind 2 APIs and 3 workers: a tenant in each passes all tests",
    programs: [],
  },
  "lost-answers": {
    what: "workers in curl, Python, its package and ours behind proxies that lose their responses (five minutes; not in `all`)",
    programs: ["curl", "python_tools"],
    long: true,
  },
  containers: {
    what: "docker-compose.yml on a container engine, as an operator would run it (ten minutes; not in `all`)",
    programs: ["docker", "debootstrap"],
    long: true,
  },
};
