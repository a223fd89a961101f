import { readFile } from "node:fs/promises";
import { basename, join, relative } from "node:path";
import { nativeDirectory } from "../../../native/build.ts";
import { patchFiles } from "../../../native/steps/source.ts";
import { checks } from "../../../src/diagnostics/index.ts";
import { errorEntries } from "../../../src/http/shared/errors.ts";
import { type MetricDescription, Metrics } from "../../../src/telemetry/index.ts";
import { type CommandHelp, commandGroups, exitCodeMeanings } from "./commands.ts";

const introduction = `# The command line

\`scripts/docs\` generates this page from the program. \`transcribe --help\`, and \`--help\` after any command, print the same.

A wrong command line ends with exit code 2, a message on standard error that says what to write, and nothing done. It is wrong if that
shows without what is stored and which files exist: an account that does not exist is a failure, with exit code 1. After \`--\`, a word
that begins with a hyphen is an argument. Of an option that is repeated, the last value counts; options with \`...\`, and
\`users --account\`, collect their values.`;

const exitCodes = `## Exit codes

| | |
|---|---|
${exitCodeMeanings.map(([code, meaning]) => `| ${code} | ${meaning} |`).join("\n")}`;

/** Returns docs/cli.md: every command with its arguments and options, in the order and under the headings of the help. */
export function cliPage(): string {
  const sections = commandGroups().map(({ heading, commands }) =>
    [`## ${heading}`, ...commands.map(commandText)].join("\n\n"),
  );
  return `${[introduction, ...sections, exitCodes].join("\n\n")}\n`;
}

function commandText({ name, description, rows }: CommandHelp): string {
  const lines = rows.map(([name, meaning]) => `| \`${cell(name)}\` | ${cell(meaning)} |`);
  const table = lines.length === 0 ? [] : [["| | |", "|---|---|", ...lines].join("\n")];
  return [`### transcribe ${name}`, description, ...table].join("\n\n");
}

/** Escapes a text for a cell of a Markdown table. */
function cell(text: string): string {
  return text.replaceAll("|", "\\|").replaceAll("\n", " ");
}

/** Returns docs/troubleshooting.md with its generated parts replaced. @param text the current page */
export function troubleshootingPage(text: string): string {
  return withPart(withPart(text, "codes", codes()), "checks", checkSections());
}

/** Returns the table of all error codes, with the texts of the API's own documentation. */
function codes(): string {
  const rows = Object.entries(errorEntries).map(
    ([code, { status, meaning, advice }]) => `| ${status} | \`${code}\` | ${meaning} | ${advice} |`,
  );
  return ["| status | code | when | what a program does |", "|---|---|---|---|", ...rows].join("\n");
}

/** Returns a section for each check of `doctor`, headed by its stable id. */
function checkSections(): string {
  return checks.map(({ id, title, explanation }) => `### ${id}\n\n**${title}.** ${explanation}`).join("\n\n");
}

/** Returns README.md with the table of the folders of src/ of docs/architecture.md. @param text the current page */
export function readmePage(text: string, architecture: string): string {
  const rows = [...architecture.matchAll(/^\| `([a-z-]+)` \| (.*) \|$/gm)].map(
    ([, folder, contents]) => `| [${folder}](src/${folder}) | ${contents} |`,
  );
  return withPart(
    text,
    "folders",
    ["| | |", "|---|---|", ...rows].join("\n"),
    "scripts/docs from docs/architecture.md",
  );
}

/**
 * Returns a page with the text between the markers of a generated part replaced.
 * @throws {Error} when the page has no such markers
 */
export function withPart(text: string, name: string, part: string, by = "scripts/docs"): string {
  const begin = `<!-- ${name}: made by ${by} -->\n`;
  const from = text.indexOf(begin);
  const to = text.indexOf("<!-- end -->", from);
  if (from < 0 || to < 0) throw new Error(`the page has no markers for ${name}`);
  return `${text.slice(0, from + begin.length)}\n${part}\n\n${text.slice(to)}`;
}

/** The generated table of docs/metrics.md, with its markers. */
const table = /(<!-- made from the program by \S+ -->\n).*(<!-- end -->)/s;

export function describedMetrics(): MetricDescription[] {
  const metrics = new Metrics({
    version: "",
    refusalCodes: [],
    wyomingErrorCodes: [],
    failures: [],
    liveEnds: [],
    machine: null,
  });
  metrics.observe({
    openRecordings: () => [],
    stalledRecordings: () => [],
    oldestWaitingSeconds: () => 0,
    engine: () => ({ ready: false, asleep: false, workers: [], waiting: { speech: 0, speakers: 0 } }),
    modelInUse: () => "",
    disk: async () => ({ freeBytes: 0, sizeBytes: 0, databaseBytes: 0, folders: {} }),
    certificateEndsAt: () => null,
    folders: () => ({ waiting: 0, done: 0, failed: 0, hindered: [] }),
    live: () => ({ open: 0, places: 0 }),
    audioStore: () => ({ waiting: 0, outageSeconds: 0 }),
    webhooks: () => ({ pending: 0, paused: 0 }),
    auditForwarding: () => null,
    lease: () => null,
    standby: () => null,
    fleet: () => null,
  });
  return metrics.describe();
}

/** Returns docs/metrics.md with its generated table replaced. @param page the current page */
export function metricsPage(page: string): string {
  const rows = describedMetrics().map(({ name, type, labels, help }) => {
    const names = labels.map((label) => `\`${label}\``).join(", ");
    return `| \`${name}\` | ${type} | ${names} | ${help} |`;
  });
  const lines = ["", "| name | type | labels | description |", "|---|---|---|---|", ...rows, "", ""];
  return page.replace(table, (_, start: string, end: string) => start + lines.join("\n") + end);
}

/**
 * Returns what the patches of native/ say of themselves in their first two lines, and the files that they change, in the
 * order in which they apply.
 * @throws {Error} when a patch does not start with a line "Why: …" and a line "Upstream: …"
 */
export async function patchHeads() {
  const paths = await Promise.all([nativeDirectory, join(nativeDirectory, "vulkan")].map(patchFiles));
  return await Promise.all(
    paths.flat().map(async (file) => {
      const text = await readFile(file, "utf8");
      const path = relative(nativeDirectory, file);
      const [, why, upstream] = /^Why: (.+)\nUpstream: (.+)\n\n/.exec(text) ?? [];
      if (why === undefined || upstream === undefined) {
        throw new Error(`${path} must start with "Why: …" and "Upstream: …"`);
      }
      const files = [...text.matchAll(/^\+\+\+ b\/(.+)$/gm)].map(([, changed = ""]) => basename(changed));
      return { path, why, upstream, files };
    }),
  );
}

/** Returns native/README.md with its table of patches replaced. @param text the current page */
export async function nativeReadme(text: string): Promise<string> {
  const rows = (await patchHeads()).map(
    ({ path, why, upstream, files }) =>
      `| ${path.replace("patches/", "").replace(".patch", "")} | ${files.join(", ")} | ${why} | ${upstream} |`,
  );
  return withPart(text, "patches", ["| patch | changes | why | upstream |", "|---|---|---|---|", ...rows].join("\n"));
}
