import type { Scene } from "../scene.ts";

const options = { idempotency_ttl_seconds: 60 };

/** Many submit under one key at once. */
export async function oneKey(scene: Scene): Promise<void> {
  await Promise.all(Array.from({ length: 20 }, () => scene.submit("same", { key: "k" })));
  await scene.drain();
}

/** A batch of which a key was taken meanwhile by another request is stored as a whole or not at all. */
export async function batches(scene: Scene): Promise<void> {
  const nonces = ["b1", "b2", "b3"];
  const call = scene.history.invoke("submit", {
    via: "batch",
    batch: "b",
    jobs: nonces.map((nonce) => scene.wanted(nonce)),
  });
  const followUps = { submitted: () => {}, drain: async () => {} };
  const submitter = scene.core.createSubmitter({ ...scene.deps, followUps }, options);
  const outcome = await submitter.submitFlow({ jobs: nonces.map((nonce) => scene.wish(nonce)) });
  await submitter.close();
  if (outcome.kind === "stored")
    call.ok({
      answers: outcome.outcomes.flatMap((one, at) =>
        "job" in one ? [{ nonce: nonces[at] ?? "", job: one.job.id, created: true }] : [],
      ),
    });
  await scene.drain();
}

/** A caller writes a row and a job in a transaction that it rolls back, and in one that it commits. */
export async function insideTransactions(scene: Scene): Promise<void> {
  await scene.sql`CREATE TABLE caller_rows (nonce text PRIMARY KEY)`;
  const queue = scene.core.createQueue({ databaseUrl: scene.url });
  for (const [nonce, kept] of [
    ["undone", false],
    ["kept", true],
  ] as const) {
    const call = scene.history.invoke("submit", { via: "transaction", row: nonce, jobs: [scene.wanted(nonce)] });
    try {
      await scene.sql.begin(async (tx) => {
        await tx`INSERT INTO caller_rows VALUES (${nonce})`;
        await queue.submitIn(tx, { type: "scene", payload: { nonce } });
        if (!kept) throw new Error("the caller thinks better of it");
      });
      call.ok({ answers: [] });
    } catch (error) {
      call.fail(error);
      if (kept) throw error;
    }
  }
  await queue.close();
  await scene.drain();
}

/** One job after the other, each signalled. */
export async function signalled(scene: Scene): Promise<void> {
  for (const nonce of ["s1", "s2", "s3"]) await scene.submit(nonce);
  await scene.drain();
}

/** Jobs for later, and those to be tried again later. */
export async function dueLater(scene: Scene): Promise<void> {
  await scene.submit("later", { delay_seconds: 1 });
  const lease = await scene.take(await scene.submit("again"));
  if (lease) await scene.fail(lease);
  await scene.drain();
}
