// oxlint-disable-next-line typescript/no-explicit-any -- as in BullMQ, data without a type may be used as anything
export type Loose = any;
