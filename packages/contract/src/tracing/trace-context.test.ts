import { expect, test } from "vitest";
import { readTraceContext, traceFields, traceIdOf } from "./trace-context.ts";

const trace = "0af7651916cd43dd8448eb211c80319c";
const span = "b7ad6b7169203331";
const good = `00-${trace}-${span}-01`;

test("a well-formed traceparent is kept as it is", () => {
  expect(readTraceContext(good, undefined)).toEqual({ traceparent: good, tracestate: null });
  expect(readTraceContext(` ${good} `, null)?.traceparent).toBe(good);
  expect(readTraceContext(`00-${trace}-${span}-00`, "")?.traceparent).toBe(`00-${trace}-${span}-00`);
});

test.each([
  ["missing", undefined],
  ["empty", ""],
  ["another text", "not-a-trace"],
  ["version ff", `ff-${trace}-${span}-01`],
  ["in capitals", good.toUpperCase()],
  ["a trace of zeros", `00-${"0".repeat(32)}-${span}-01`],
  ["a span of zeros", `00-${trace}-${"0".repeat(16)}-01`],
  ["a short trace", `00-${trace.slice(1)}-${span}-01`],
  ["flags that are no digits", `00-${trace}-${span}-0x`],
  ["more than version 00 has", `${good}-more`],
  ["sent twice", `${good}, ${good}`],
  ["with a line break in it", `${good}\n${good}`],
  ["of a later version, and too long", `01-${trace}-${span}-01-${"x".repeat(600)}`],
  ["of a later version, without a dash before the rest", `01-${trace}-${span}-01more`],
])("a traceparent that is malformed counts as none, with its tracestate: %s", (_what, traceparent) => {
  expect(readTraceContext(traceparent, "vendor=value")).toBeUndefined();
});

test("a later version is read as far as it is known", () => {
  expect(readTraceContext(`cc-${trace}-${span}-01`, undefined)?.traceparent).toBe(good);
  expect(readTraceContext(`cc-${trace}-${span}-ff-what-comes`, undefined)?.traceparent).toBe(good);
});

test("only the flags that are known are passed on", () => {
  expect(readTraceContext(`00-${trace}-${span}-ff`, undefined)?.traceparent).toBe(`00-${trace}-${span}-03`);
});

test.each([
  ["rojo=00f067aa0ba902b7,congo=t61rcWkgMzE", "rojo=00f067aa0ba902b7,congo=t61rcWkgMzE"],
  ["a=1 , ,\tb@vendor=2", "a=1,b@vendor=2"],
  ["1a=ok", "1a=ok"],
  ["", null],
  ["no member", null],
  ["Upper=case", null],
  ["a=1,a=2", null],
  ["a=with=equals", null],
  ["a=\u0000", null],
  [Array.from({ length: 33 }, (_, at) => `k${at}=v`).join(","), null],
])("tracestate %j becomes %j", (header, kept) => {
  expect(readTraceContext(good, header)).toEqual({ traceparent: good, tracestate: kept });
});

test("a long tracestate loses its oldest members, which are the last", () => {
  const members = Array.from({ length: 20 }, (_, at) => `k${at}=${"v".repeat(40)}`);
  const { tracestate = "" } = readTraceContext(good, members.join(",")) ?? {};
  expect(tracestate?.length).toBeLessThanOrEqual(512);
  expect(members.join(",").startsWith(`${tracestate},`)).toBe(true);
});

test("the ids are where logs and links look for them", () => {
  expect(traceIdOf({ traceparent: good })).toBe(trace);
  expect(traceFields({ traceparent: good })).toEqual({ trace_id: trace, span_id: span });
});
