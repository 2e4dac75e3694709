import Table from "cli-table3";

const nothing = {
  top: "",
  "top-mid": "",
  "top-left": "",
  "top-right": "",
  bottom: "",
  "bottom-mid": "",
  "bottom-left": "",
  "bottom-right": "",
  left: "",
  "left-mid": "",
  mid: "",
  "mid-mid": "",
  right: "",
  "right-mid": "",
};

/**
 * Rows under a line of headings, in columns two spaces apart, without lines or colours: for eyes, `grep` and `awk`
 * alike. Wide letters are counted as wide.
 *
 * @example
 * textTable(["name", "cron"], [["nightly", "30 2 * * *"]]);
 */
export function textTable(head: string[], rows: string[][]): string {
  const style = { head: [], border: [], "padding-left": 0, "padding-right": 0 };
  const table = new Table({ head, style, chars: { ...nothing, middle: "  " } });
  table.push(...rows);
  const lines = table.toString().split("\n");
  return `${lines.map((line) => line.trimEnd()).join("\n")}\n`;
}
