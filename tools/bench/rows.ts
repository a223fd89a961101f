/**
 * Measures whether a server responds as fast with a million recordings in its database as with a thousand:
 * `scripts/bench rows [--rows N …] [--json] [--write]`. A million takes a minute to create and temporarily a gigabyte
 * of disk space.
 */
import { parseArgs } from "node:util";
import { messageOf } from "../../src/text/index.ts";
import { circumstances, writeGeneratedTable } from "../shared/circumstances.ts";
import { measured, measureRows, type RowFigures } from "./measure-rows.ts";
import { refuse } from "./options.ts";
import { asMarkdown, asText, benchmarksPagePath, type Cells } from "./show-table.ts";

const defaultCounts = ["1000", "100000", "1000000"];

const { rows, json, write } = readOptions();
const figures: { readonly count: number; readonly figures: RowFigures }[] = [];
for (const count of rows) {
  const report = (text: string) => console.error(`${count.toLocaleString("en")} recordings: ${text}`);
  figures.push({ count, figures: await measureRows(count, report) });
}
const when = await circumstances(Date.now());
const heading = `${when.date}, commit ${when.commit}, ${when.machine}, medians:`;
const table = tableOf();
if (json) console.log(JSON.stringify({ ...when, figures }, null, 2));
else console.log(`${heading}\n${asText(table)}`);
if (write) {
  writeGeneratedTable(benchmarksPagePath, "scripts/bench rows --write", `${heading}\n\n${asMarkdown(table)}`);
}

function tableOf(): Cells {
  const names = Object.keys(measured) as (keyof RowFigures)[];
  return {
    head: ["recordings", ...figures.map(({ count }) => count.toLocaleString("en"))],
    lines: names.map((name) => [
      measured[name],
      ...figures.map(({ figures }) =>
        figures[name].toFixed(name === "resident" || name === "database" || name === "listening" ? 0 : 1),
      ),
    ]),
  };
}

function readOptions() {
  try {
    const { values } = parseArgs({
      options: {
        rows: { type: "string", multiple: true, default: defaultCounts },
        json: { type: "boolean", default: false },
        write: { type: "boolean", default: false },
      },
    });
    const wrong = values.rows.find((text) => !/^\d{3,8}$/.test(text));
    if (wrong !== undefined) refuse(`--rows is a whole number from 100, not ${wrong}`);
    return { ...values, rows: values.rows.map(Number) };
  } catch (error) {
    return refuse(messageOf(error).split(". ")[0] ?? "");
  }
}
