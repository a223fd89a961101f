import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { available } from "../../../harness/checkout.ts";
import { startTimeout, TestServer } from "../../../harness/server.ts";
import { faultsOf, found, openBrowser, openWithAccount, overhangOf } from "./browser.ts";

const ready = found !== null && available("replacements in a browser");

describe.if(ready)("the replacements of an account in a browser", () => {
  const server = new TestServer({ TRANSCRIBE_CONSOLE_ENABLED: "true" });
  const browser = openBrowser();
  let page: Page;

  beforeAll(async () => {
    page = await openWithAccount(server, browser, "acme");
  }, startTimeout);
  afterAll(() => server[Symbol.asyncDispose]());

  test("are added, refused with a reason, and removed", async () => {
    await page.goto(`${server.origin}/console/#/accounts`);
    await page
      .getByRole("region", { name: "acme" })
      .getByRole("link", { name: /replacements/i })
      .click();
    await page.getByRole("heading", { level: 1, name: "Replacements of acme" }).waitFor();
    await page.getByRole("button", { name: "Add replacement" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Words as they are recognized").fill("…");
    await dialog.getByLabel("Written as").fill("Kubernetes");
    await dialog.getByRole("button", { name: "Add replacement" }).click();
    await dialog.getByText(/must begin with a letter or a digit/).waitFor();
    expect(await faultsOf(page)).toEqual([]);
    await dialog.getByLabel("Words as they are recognized").fill("kuber netes");
    await dialog.getByRole("button", { name: "Add replacement" }).click();
    const row = page.getByRole("listitem").filter({ hasText: "kuber netes" });
    await row.getByText("Kubernetes").waitFor();
    await page.getByText("1 of 1000").waitFor();
    await page.setViewportSize({ width: 360, height: 740 });
    expect(await faultsOf(page)).toEqual([]);
    expect(await overhangOf(page)).toBe(0);
    await row.getByRole("button", { name: "Remove" }).click();
    await page.getByText("have the words as they are recognized").waitFor();
  });
});
