// The part of scripts/release that needs Bun: runs the steps, then prints them and the artefacts as tables.
import { join } from "node:path";
import { messageOf } from "../../src/text/index.ts";
import { root } from "../shared/checkout.ts";
import { defineCommand, runCommandLine } from "../shared/command.ts";
import { flag, readName, text } from "../shared/options.ts";
import { asText } from "../shared/table.ts";
import { otherFiles, readArtefacts } from "./artefacts.ts";
import { type ReleaseOptions, releaseSteps } from "./steps.ts";

interface Outcome {
  readonly name: string;
  readonly state: "passed" | "failed" | "not run";
  readonly seconds: number;
  readonly detail: string;
}

const command = defineCommand({
  name: "scripts/release",
  about: "Builds and tests a release: everything in dist/ that can be handed over.",
  options: {
    key: text("FILE", "sign with a secret key of minisign without a password"),
    dryRun: flag("a release without a date in CHANGELOG.md and without a key"),
    cuda: flag("also build CUDA's backend and an image with it"),
    only: text("STEPS", "run only these steps, separated by commas"),
  },
  async run({ only, ...options }) {
    const steps = releaseSteps.map(({ name }) => name);
    const names = only?.split(",").map((name) => readName(name, "a step", steps)) ?? steps;
    const outcomes = await runSteps(names, options);
    await printTables(outcomes);
    process.exitCode = outcomes.every(({ state }) => state === "passed") ? 0 : 1;
  },
});
await runCommandLine(command, process.argv.slice(2));

/** Runs the steps in their order, until one fails. */
async function runSteps(names: readonly string[], options: ReleaseOptions): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  for (const { name, run } of releaseSteps.filter((step) => names.includes(step.name))) {
    if (outcomes.some(({ state }) => state === "failed")) {
      outcomes.push({ name, state: "not run", seconds: 0, detail: "" });
      continue;
    }
    console.log(`release: ${name}`);
    const start = performance.now();
    const [state, detail] = await run(options).then(
      (text) => ["passed", text] as const,
      (error: unknown) => ["failed", messageOf(error)] as const,
    );
    outcomes.push({ name, state, detail, seconds: (performance.now() - start) / 1000 });
  }
  return outcomes;
}

async function printTables(outcomes: readonly Outcome[]): Promise<void> {
  const lines = outcomes.flatMap(({ name, state, seconds, detail }) => {
    const [first = "", ...rest] = detail.split("\n");
    return [[name, state, seconds.toFixed(0), first], ...rest.map((line) => ["", "", "", line])];
  });
  console.log(`\n${asText({ head: ["step", "result", "seconds", "detail"], lines })}`);
  const dist = join(root, "dist");
  const artefacts = await readArtefacts(dist).catch(() => null);
  if (artefacts === null) return;
  const files = artefacts.map(({ name, bytes, sha256 }) => [name, (bytes / 1e6).toFixed(1), sha256]);
  console.log(`\n${asText({ head: ["artefact", "MB", "SHA-256"], lines: files })}`);
  const others = otherFiles(dist, artefacts);
  if (others.length > 0) console.log(`\nNot handed over: ${others.join(", ")}`);
}
