import { z } from "zod";
import { limits } from "../../checks/limits.ts";

/**
 * What becomes of a job when one it depends on is dead or cancelled: it is cancelled too, or waits until a person has
 * that one replayed and it succeeds, or runs all the same.
 */
export const onParentFailure = z.enum(["cancel", "wait", "run"]).describe('"cancel", "wait" or "run"');
export type OnParentFailure = z.infer<typeof onParentFailure>;

// A text that may be an id is never a ref, so that `depends_on` needs no word for which of the two is meant.
const notAnId = "(?![0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$)";

/** What the other jobs of a batch call a job by. */
export const jobRef = z
  .string()
  .max(limits.ref_chars_max)
  .regex(new RegExp(`^${notAnId}[A-Za-z0-9._:-]+$`))
  .describe(`a string of 1 to ${limits.ref_chars_max} characters out of A-Z a-z 0-9 . _ : -, and not a UUID`);

const anId = /^[0-9A-F]{8}(?:-[0-9A-F]{4}){3}-[0-9A-F]{12}$/i;

/** One of `depends_on`, in a batch. An id is in lower case afterwards. */
export const refOrId = z
  .string()
  .max(limits.ref_chars_max)
  .regex(/^[A-Za-z0-9._:-]+$/)
  .overwrite((text) => (anId.test(text) ? text.toLowerCase() : text))
  .describe("the ref of a job in this batch, or the id of one that exists");

/** The jobs that a job waits for. */
export const dependsOn = <S extends z.ZodType<string>>(parent: S, of: string) =>
  z
    .array(parent)
    .max(limits.flow_edges_max)
    .superRefine((parents, context) => {
      const named = new Set<string>();
      parents.forEach((one, at) => {
        if (named.has(one))
          context.addIssue({
            code: "custom",
            path: [at],
            message: `must not be named twice; got ${JSON.stringify(one)}`,
          });
        named.add(one);
      });
    })
    .meta({ description: `a list of up to ${limits.flow_edges_max} ${of}`, uniqueItems: true });
