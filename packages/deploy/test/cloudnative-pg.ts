import { z } from "zod";

/** A size, as Kubernetes reads it. */
const quantity = z.string().regex(/^\d+(?:\.\d+)?(?:[KMGT]i?|m)?$/);
const resources = z.strictObject({ cpu: quantity.optional(), memory: quantity.optional() });
const storage = z.strictObject({ size: quantity, storageClass: z.string().optional() });

/**
 * The fields that our manifest uses, as `postgresql.cnpg.io_clusters.yaml` of CloudNativePG 1.28 has them. No package has its schemas.
 * A field that is not here has to be looked up there first.
 */
const cluster = z.strictObject({
  apiVersion: z.literal("postgresql.cnpg.io/v1"),
  kind: z.literal("Cluster"),
  metadata: z.strictObject({ name: z.string().max(50), labels: z.record(z.string(), z.string()).optional() }),
  spec: z.strictObject({
    instances: z.int().min(1),
    imageName: z.string(),
    bootstrap: z.strictObject({
      initdb: z.strictObject({ database: z.string(), owner: z.string(), encoding: z.string() }),
    }),
    postgresql: z.strictObject({
      synchronous: z.strictObject({
        method: z.enum(["any", "first"]),
        number: z.int().min(1),
        dataDurability: z.enum(["required", "preferred"]),
        failoverQuorum: z.boolean(),
      }),
      parameters: z.record(z.string(), z.string()),
    }),
    primaryUpdateMethod: z.enum(["switchover", "restart"]),
    affinity: z.strictObject({ podAntiAffinityType: z.enum(["preferred", "required"]), topologyKey: z.string() }),
    storage,
    walStorage: storage,
    resources: z.strictObject({ requests: resources, limits: resources }),
  }),
});

/** As the packages of the other schemas have a class for each kind. */
export class Cluster {
  readonly #manifest: unknown;

  constructor(manifest: unknown) {
    this.#manifest = manifest;
  }

  validate(): void {
    cluster.parse(this.#manifest);
  }
}
