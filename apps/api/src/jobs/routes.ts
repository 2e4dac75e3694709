import { bulk, edit, remove, cancel, retry } from "./acts.ts";
import { parents, attempts, explain, get, list } from "./read.ts";
import { submitBatch } from "./submit-batch.ts";
import { submitStream } from "./stream/submit-stream.ts";
import { submit } from "./submit.ts";

/** Jobs as people see them, and what they do with them: submit, list, look at, wait for, cancel, retry. */
export const jobRoutes = [
  submit,
  submitBatch,
  submitStream,
  list,
  get,
  attempts,
  explain,
  parents,
  cancel,
  retry,
  edit,
  remove,
  bulk,
];
