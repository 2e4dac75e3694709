import { z } from "zod";
import { queue } from "../../../lib/queue";

const order = z.object({ id: z.string(), email: z.email() });

export async function POST(request: Request): Promise<Response> {
  const { data, error } = order.safeParse(await request.json());
  if (error) return Response.json({ error: z.prettifyError(error) }, { status: 400 });
  const job = await queue().submit({
    type: "receipt.send",
    payload: data,
    idempotency_key: `receipt-${data.id}`,
  });
  return Response.json({ job: job.id }, { status: 202 });
}
