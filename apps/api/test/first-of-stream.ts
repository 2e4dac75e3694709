/** Of an answer that goes on, what it says first, and no more: as an answer that ends. Others stay as they are. */
export async function firstOfStream(response: Response): Promise<Response> {
  if (response.headers.get("content-type") !== "text/event-stream" || !response.body) return response;
  const reader = response.body.getReader();
  let text = "";
  while (!text.includes("event: ")) text += new TextDecoder().decode((await reader.read()).value);
  await reader.cancel();
  return new Response(text, { status: response.status, headers: response.headers });
}
