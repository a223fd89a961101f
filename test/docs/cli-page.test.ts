import { expect, test } from "bun:test";
import { cliPage } from "../../scripts/support/docs/cli-page.ts";
import { pageNamed } from "./pages.ts";

test("docs/cli.md is what scripts/docs makes of the program", () => {
  expect(pageNamed("docs/cli.md").text).toBe(cliPage());
});
