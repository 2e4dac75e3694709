import { leased, post, refused, type Row, type Sent, type Step } from "./row.ts";

const put = (name: string, body: string): Sent => ({ ...post(`/v1/jobs/{id}/steps/${name}`, body), method: "PUT" });
const store = (name: string, more: string) => put(name, `{"lease_token":"{token}"${more}}`);
const signal = (name: string, payload: string) => post(`/v1/jobs/{id}/signals/${name}`, `{"payload":${payload}}`);
const park = (fields: string) => post("/v1/jobs/{id}/park", `{"lease_token":"{token}",${fields}}`);

const long = "x".repeat(129);
const large = `"${"x".repeat(300 * 1_024)}"`;
const deep = `${"[".repeat(5_000)}${"]".repeat(5_000)}`;

let queues = 0;
const row = (number: number, what: string, ...steps: Step[]): Row => ({
  row: number,
  what,
  v1: [...leased(`bad-steps-${(queues += 1)}`), ...steps],
});

/** The same rows for what a job keeps: OpenQueue knows neither steps nor signals. */
export const stepRows: Row[] = [
  ...[long, "a%0Ab", "%E2%80%AEa", "%E2%80%A8"].flatMap((name) => [
    row(20, `a step named ${name.slice(0, 20)}`, refused(store(name, ""), "validation", "path:name")),
    row(20, `a signal named ${name.slice(0, 20)}`, refused(signal(name, "1"), "validation", "path:name")),
  ]),
  row(2, "a step whose name is no UTF-8", { ...refused(store("%ff", ""), "malformed_request") }),
  row(14, "a step with NUL", refused(store("a", String.raw`,"result":"\u0000"`), "validation", "NUL")),
  row(15, "a signal with half a pair", refused(signal("a", String.raw`"\ud800"`), "validation", "surrogate")),
  row(16, "a deep step", refused(store("a", `,"result":${deep}`), "validation", "nest")),
  row(16, "a deep signal", refused(signal("a", deep), "validation", "nest")),
  row(17, "a number that is rounded", refused(signal("a", "9007199254740993"), "validation", "2^53")),
  row(27, "a step without its token", refused(put("a", "{}"), "validation", "/lease_token")),
  row(31, "a step of 300 KiB", refused(store("a", `,"result":${large}`), "too_large", "/result")),
  row(31, "a signal of 300 KiB", refused(signal("a", large), "too_large", "/payload")),
  ...['""', `"${long}"`, String.raw`"a\r\nb"`, "1", "null"].map((name) =>
    row(
      20,
      `a wait for ${name.slice(0, 20)}`,
      refused(park(`"signal":${name},"timeout_seconds":60`), "validation", "/signal"),
    ),
  ),
  ...["0", "-1", "0.5", "31536001", "1e18", '"60"', "null"].map((time) =>
    row(
      26,
      `a wait of ${time} s`,
      refused(park(`"signal":"a","timeout_seconds":${time}`), "validation", "/timeout_seconds"),
    ),
  ),
  row(26, "a wait without an end", refused(park('"signal":"a"'), "validation", "/timeout_seconds is required")),
];
