/** What a tool cannot do as it was asked, in words that say what to do instead. The model reads the message. */
export class Refusal extends Error {
  override readonly name = "Refusal";
}
