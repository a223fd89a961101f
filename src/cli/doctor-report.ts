import type { Result, Status } from "../diagnostics/index.ts";
import { count } from "../text/index.ts";
import { printable } from "./printable.ts";
import { wrapped } from "./recording-texts.ts";

/** A function that colours a part of the report, or returns it as plain text. */
type Paint = (status: Status | "faint", text: string) => string;

const codes: Readonly<Record<Status | "faint", string>> = {
  ok: "32",
  warning: "33",
  problem: "31;1",
  skipped: "2",
  faint: "2",
};

export const plain: Paint = (_status, text) => text;
export const coloured: Paint = (status, text) => `\x1b[${codes[status]}m${text}\x1b[0m`;

/** Selects colours for terminals that support them, unless NO_COLOR is set; see no-color.org. */
export function paintFor(stream: { readonly isTTY?: boolean }, environment: NodeJS.ProcessEnv): Paint {
  const wanted = stream.isTTY === true && !environment.NO_COLOR && environment.TERM !== "dumb";
  return wanted ? coloured : plain;
}

const labels: Readonly<Record<Status, string>> = {
  ok: "ok",
  warning: "warning",
  problem: "PROBLEM",
  skipped: "-",
};

/** Formats all checks, then the advice. The advice comes last, because people read the end of an output first. */
export function doctorReport(results: readonly Result[], { paint, width }: { paint: Paint; width: number }): string {
  const titleWidth = Math.max(...results.map(({ check }) => check.title.length));
  const lines = results.map(({ check, finding }) => {
    const { status, summary } = finding;
    const label = paint(status, labels[status].padEnd(labels.problem.length));
    const title = check.title.padEnd(titleWidth);
    const indent = labels.problem.length + titleWidth + 4;
    const text = wrapped(summary, Math.max(20, width - indent)).join(`\n${" ".repeat(indent)}`);
    return `${label}  ${title}  ${status === "skipped" ? paint("skipped", text) : text}`;
  });
  return [...lines, ...repairs(results, paint), ...todo(results, paint, width), "", totals(results)].join("\n");
}

function repairs(results: readonly Result[], paint: Paint): string[] {
  const repaired = results.flatMap(({ check, repaired }) => (repaired === null ? [] : [{ check, ...repaired }]));
  if (repaired.length === 0) return [];
  const lines = repaired.map(({ check, what, failure }) =>
    failure === null
      ? `  ${paint("ok", "done")}    ${printable(what)} (${check.id})`
      : `  ${paint("problem", "FAILED")}  ${printable(what)} (${check.id}): ${printable(failure)}`,
  );
  return ["", "Repaired:", ...lines];
}

function todo(results: readonly Result[], paint: Paint, width: number): string[] {
  const rank = (status: Status) => (status === "problem" ? 0 : 1);
  const open = results
    .filter(({ finding }) => finding.status === "problem" || finding.status === "warning")
    .sort((a, b) => rank(a.finding.status) - rank(b.finding.status));
  return open.flatMap(({ check, finding }) => {
    const { status, summary, detail = [], advice = "" } = finding;
    const indented = (text: string, indent: string) =>
      wrapped(text, Math.max(20, width - indent.length)).map((line) => `${indent}${line}`);
    return [
      "",
      `${paint(status, labels[status])} ${check.title}: ${printable(summary)} ${paint("faint", `[${check.id}]`)}`,
      ...detail.flatMap((line) => indented(line, "    ").map((text) => paint("faint", text))),
      ...indented(advice, "  → ").map((line, at) => (at === 0 ? line : line.replace("→", " "))),
    ];
  });
}

function totals(results: readonly Result[]): string {
  const of = (status: Status) => results.filter(({ finding }) => finding.status === status).length;
  const faults = `${count(of("problem"), "problem")}, ${count(of("warning"), "warning")}`;
  return `${faults}, ${of("ok")} ok, ${of("skipped")} skipped`;
}
