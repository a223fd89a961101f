import { expect, test } from "bun:test";
import { failureKinds } from "../../src/recordings/index.ts";
import { cliPage, readmePage, troubleshootingPage } from "../../tools/development/docs/pages.ts";
import { withGenerated } from "../../tools/shared/table.ts";
import { pageNamed } from "./pages.ts";

test("docs/cli.md is what scripts/docs generates", () => {
  expect(pageNamed("docs/cli.md").text).toBe(cliPage());
});

test("README.md has the table of folders that scripts/docs copies from docs/architecture.md", () => {
  const { text } = pageNamed("README.md");
  expect(text).toBe(readmePage(text, pageNamed("docs/architecture.md").text));
});

test("docs/troubleshooting.md has what scripts/docs generates", () => {
  const { text } = pageNamed("docs/troubleshooting.md");
  expect(text).toBe(troubleshootingPage(text));
});

test("docs/troubleshooting.md explains every cause of a failed recording, and no other", () => {
  const { text } = pageNamed("docs/troubleshooting.md");
  const section = text.slice(text.indexOf("## Why a recording failed"), text.indexOf("## What the API answers"));
  const explained = [...section.matchAll(/^\| `([a-z_]+)` \|/gm)].map((match) => match[1] ?? "");
  const kinds = failureKinds.map(({ reason, cause }) => cause || reason);
  expect(explained.sort()).toEqual([...kinds, "internal"].sort());
});

test.each([
  ["docs/benchmarks.md", "scripts/bench"],
  ["docs/benchmarks.md", "scripts/bench rows"],
  ["docs/benchmarks.md", "scripts/bench parakeet"],
  ["docs/benchmarks.md", "scripts/bench scale"],
  ["docs/benchmarks.md", "scripts/bench fleet"],
  ["docs/benchmarks.md", "scripts/bench start"],
  ["docs/fleet.md", "scripts/bench fleet"],
  ["docs/scale.md", "scripts/bench capacity (costs)"],
  ["docs/scale.md", "scripts/bench capacity (check)"],
  ["docs/scale.md", "scripts/bench capacity (plans)"],
  ["docs/quality.md", "scripts/evaluate"],
  ["docs/quality.md", "scripts/evaluate hints"],
  ["docs/quality.md", "scripts/evaluate translation"],
])("%s gets the new table of %s in place of the old one", (page, command) => {
  const { text } = pageNamed(page);
  const written = withGenerated(text, `${command} --write`, "a new table");
  expect(written).toContain("\na new table\n");
  expect(withGenerated(written, `${command} --write`, "")).not.toContain("a new table");
  expect(written.replaceAll(/from here -->.*?<!--/gs, "")).toBe(text.replaceAll(/from here -->.*?<!--/gs, ""));
  expect(() => withGenerated("# Another page", `${command} --write`, "")).toThrow("no markers");
});
