import { freePort, startRedis, type EmbeddedRedis } from "@atlasqueue/embedded";
import { certificateAuthority, type Authority, type Certificate } from "./certificates.ts";

export type TlsRedis = {
  /** Without TLS, to look at it from a test. */
  readonly server: EmbeddedRedis;
  readonly tls_port: number;
  /** `rediss://` with its password. */
  readonly url: string;
  readonly authority: Authority;
  /** It lets in those who show one of the authority's. */
  readonly client: Certificate;
  stop(): Promise<void>;
};

/**
 * A Redis that asks for TLS and a certificate, at 127.0.0.1 and for the name `redis.internal`. Stopping it is up to you.
 *
 * @example
 * const redis = await tlsRedis();
 * afterAll(() => redis.stop());
 */
export async function tlsRedis(): Promise<TlsRedis> {
  const authority = certificateAuthority();
  try {
    const { cert_file, key_file } = authority.issue("server", ["IP:127.0.0.1", "DNS:redis.internal"]);
    const tls_port = await freePort();
    const password = "the-same-for-all-of-them";
    const files = ["--tls-cert-file", cert_file, "--tls-key-file", key_file, "--tls-ca-cert-file", authority.ca_file];
    const server = await startRedis({ password, args: ["--tls-port", String(tls_port), ...files] });
    return {
      server,
      tls_port,
      url: `rediss://:${password}@127.0.0.1:${tls_port}`,
      authority,
      client: authority.issue("client"),
      async stop() {
        await server.stop();
        authority.remove();
      },
    };
  } catch (error) {
    authority.remove();
    throw error;
  }
}
