import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { createLink } from "../../../src/console/index.ts";
import { ConsoleServer } from "../../support/console.ts";
import { faultsOf, found, openBrowser, openPage, overhangOf } from "./browser.ts";

describe.if(found !== null)("the overview of a server in a browser", () => {
  const server = new ConsoleServer();
  const browser = openBrowser();
  let page: Page;
  beforeAll(async () => {
    page = await openPage(await browser.context());
    const { token } = createLink(server.api.store, server.api.operator());
    await page.goto(`${server.origin}/console/#enter=${token}`);
  }, 60_000);
  afterAll(() => server[Symbol.dispose]());
  const title = () => page.getByRole("heading", { name: "Workers of the fleet" });

  test("has no section about workers without a fleet", async () => {
    await page.getByRole("heading", { name: "Since the server started" }).waitFor();
    expect(await title().count()).toBe(0);
  }, 60_000);

  test("lists the workers of a fleet with their problems, on any width and without accessibility violations", async () => {
    const usual = { version: "1.2.3", lanes: 2, busy: 1, problem: null };
    const problem = "it runs version 1.0, the coordinator 1.2.3; install the coordinator's version on it";
    server.machines = [
      { ...usual, machine: "gpu-1" },
      { ...usual, machine: "a-machine-with-a-rather-long-name-of-its-own", lanes: 0, busy: 0, problem },
    ];
    await page.reload();
    await title().waitFor();
    const section = page.locator("section", { has: title() });
    const text = ((await section.textContent()) ?? "").replaceAll("\u00a0", " ");
    for (const part of ["gpu-1 1.2.3", "1 of 2 lanes busy", problem, "not used"]) expect(text).toContain(part);
    for (const width of [1280, 360]) {
      await page.setViewportSize({ width, height: 740 });
      expect(await overhangOf(page)).toBeLessThanOrEqual(0);
    }
    expect(await faultsOf(page)).toEqual([]);
    server.machines = [];
    await page.reload();
    await page.getByText("No worker reports").waitFor();
  }, 60_000);
});
