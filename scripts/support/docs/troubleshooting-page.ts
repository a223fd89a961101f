import { checks } from "../../../src/diagnostics/index.ts";
import { errorEntries } from "../../../src/http/errors.ts";

/** docs/troubleshooting.md with the parts anew that the program tells of itself. @param text the page as it is */
export function troubleshootingPage(text: string): string {
  return withPart(withPart(text, "codes", codes()), "checks", checkSections());
}

/** Every code of the API, as its own documentation has it. */
function codes(): string {
  const rows = Object.entries(errorEntries).map(
    ([code, { status, meaning, advice }]) => `| ${status} | \`${code}\` | ${meaning} | ${advice} |`,
  );
  return ["| status | code | when | what a program does |", "|---|---|---|---|", ...rows].join("\n");
}

/** A section for each check, by its stable id. */
function checkSections(): string {
  return checks.map(({ id, title, explanation }) => `### ${id}\n\n**${title}.** ${explanation}`).join("\n\n");
}

function withPart(text: string, name: string, part: string): string {
  const begin = `<!-- ${name}: made by scripts/docs -->\n`;
  const from = text.indexOf(begin);
  const to = text.indexOf("<!-- end -->", from);
  if (from < 0 || to < 0) throw new Error(`docs/troubleshooting.md has no place for ${name}`);
  return `${text.slice(0, from + begin.length)}\n${part}\n\n${text.slice(to)}`;
}
