import { spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findProgram } from "../programs/programs.ts";

/** PEM files, and what is in them. */
export type Certificate = {
  readonly cert_file: string;
  readonly key_file: string;
  readonly cert: string;
  readonly key: string;
};

export type Authority = {
  readonly ca_file: string;
  readonly ca: string;
  /** A certificate for a server at these addresses, such as `IP:127.0.0.1` or `DNS:redis.internal`, or for a client. */
  issue(name: string, addresses?: readonly string[]): Certificate;
  remove(): void;
};

/**
 * A certificate authority of the test's own, made with `openssl`. Its files can be read by any user, as servers run as
 * another one.
 *
 * @example
 * const authority = certificateAuthority();
 * const server = authority.issue("server", ["IP:127.0.0.1"]);
 */
export function certificateAuthority(): Authority {
  const folder = mkdtempSync(join(tmpdir(), "atlasqueue-tls-"));
  chmodSync(folder, 0o755);
  const path = (name: string) => join(folder, name);
  const newKey = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
  const ca_file = path("ca.crt");
  openssl([
    "req",
    "-x509",
    ...newKey,
    "-keyout",
    path("ca.key"),
    "-out",
    ca_file,
    "-days",
    "2",
    "-subj",
    "/CN=test-ca",
  ]);
  return {
    ca_file,
    ca: readFileSync(ca_file, "utf8"),
    issue(name, addresses = []) {
      const [cert_file, key_file, request, extra] = [`${name}.crt`, `${name}.key`, `${name}.csr`, `${name}.ext`].map(
        path,
      ) as [string, string, string, string];
      openssl(["req", ...newKey, "-keyout", key_file, "-out", request, "-subj", `/CN=${name}`]);
      writeFileSync(extra, addresses.length > 0 ? `subjectAltName=${addresses.join(",")}\n` : "");
      openssl(
        ["x509", "-req", "-in", request, "-CA", ca_file, "-CAkey", path("ca.key"), "-CAcreateserial"].concat([
          "-days",
          "2",
          "-extfile",
          extra,
          "-out",
          cert_file,
        ]),
      );
      chmodSync(key_file, 0o644);
      return { cert_file, key_file, cert: readFileSync(cert_file, "utf8"), key: readFileSync(key_file, "utf8") };
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** As settings of a Redis or a sentinel. */
export function tlsFiles({ ca_file }: Authority, { cert_file, key_file }: Certificate): Record<string, string> {
  return { "tls-cert-file": cert_file, "tls-key-file": key_file, "tls-ca-cert-file": ca_file };
}

function openssl(args: readonly string[]): void {
  const program = findProgram("openssl");
  if (program === undefined) throw new Error("there is no openssl here; `pnpm test` installs it");
  const { status, stderr } = spawnSync(program, args, { encoding: "utf8" });
  if (status !== 0) throw new Error(`openssl ${args[0]}: ${stderr}`);
}
