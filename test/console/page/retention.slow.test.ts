import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { available } from "../../../harness/checkout.ts";
import { startTimeout, TestServer } from "../../../harness/server.ts";
import { faultsOf, found, openBrowser, openWithAccount, overhangOf } from "./browser.ts";

const ready = found !== null && available("the retention of accounts in a browser");

describe.if(ready)("the retention of an account in a browser", () => {
  const server = new TestServer({ TRANSCRIBE_CONSOLE_ENABLED: "true" });
  const browser = openBrowser();
  let page: Page;

  beforeAll(async () => {
    page = await openWithAccount(server, browser, "acme");
  }, startTimeout);
  afterAll(async () => {
    await server[Symbol.asyncDispose]();
  });

  test("is shown, changed, and taken back by emptying its fields", async () => {
    await page.goto(`${server.origin}/console/#/accounts`);
    const section = page.getByRole("region", { name: "acme" });
    await section.getByText("Audio kept 7 days, recordings kept").waitFor();
    await section.getByRole("button", { name: "Retention" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel(/audio is kept/).fill("0");
    await dialog.getByLabel(/are deleted/).fill("30");
    expect(await faultsOf(page)).toEqual([]);
    await dialog.getByRole("button", { name: "Save" }).click();
    await section.getByText("Audio is not kept, recordings kept 30 days").waitFor();
    await page.setViewportSize({ width: 360, height: 740 });
    expect(await overhangOf(page)).toBe(0);
    await page.reload();
    await section.getByText("Audio is not kept, recordings kept 30 days").waitFor();
    await section.getByRole("button", { name: "Retention" }).click();
    expect(await dialog.getByLabel(/are deleted/).inputValue()).toBe("30");
    await dialog.getByLabel(/audio is kept/).fill("");
    await dialog.getByLabel(/are deleted/).fill("");
    await dialog.getByRole("button", { name: "Save" }).click();
    await section.getByText("Audio kept 7 days, recordings kept").waitFor();
  });
});
