import { expect, test } from "bun:test";
import { failureKinds } from "../../src/recordings/index.ts";
import { cliPage, readmePage, troubleshootingPage } from "../../tools/development/docs/pages.ts";
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
