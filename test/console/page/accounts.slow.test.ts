import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { startTimeout, TestServer } from "../../../harness/server.ts";
import { HookReceiver } from "../../support/hook-receiver.ts";
import { tinyRecognizer } from "../../support/tiny-recognizer.ts";
import { faultsOf, found, openBrowser, openWithAccount, overhangOf } from "./browser.ts";

/** The tests share one page. Each begins at the list of accounts, in a wide window. */
describe.if(found !== null)("in the console in a browser, an account", () => {
  const server = new TestServer({
    ...tinyRecognizer(),
    TRANSCRIBE_CONSOLE_ENABLED: "true",
    TRANSCRIBE_WEBHOOKS_ALLOW: "127.0.0.0/8",
  });
  const browser = openBrowser();
  let page: Page;

  beforeAll(async () => {
    page = await openWithAccount(server, browser, "acme");
  }, startTimeout);
  afterAll(() => server[Symbol.asyncDispose]());

  const toAccounts = async () => {
    await page.setViewportSize({ width: 1280, height: 860 });
    await page.goto(`${server.origin}/console/#/accounts`);
  };

  test("has its retention shown, changed, and taken back by emptying its fields", async () => {
    await toAccounts();
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

  test("has replacements that are added, refused with a reason, and removed", async () => {
    await toAccounts();
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

  test("has webhooks that are added with a secret that is shown once, send a test, pause, resume, and are removed after a question", async () => {
    await using receiver = await HookReceiver.start();
    await toAccounts();
    await page
      .getByRole("region", { name: "acme" })
      .getByRole("link", { name: /webhooks/i })
      .click();
    await page.getByRole("heading", { level: 1, name: "Webhooks of acme" }).waitFor();
    expect(await faultsOf(page)).toEqual([]);
    await page.getByRole("button", { name: "Add webhook" }).click();
    await page.getByLabel("Address").fill("https://169.254.169.254/");
    await page.getByRole("dialog").getByRole("button", { name: "Add webhook" }).click();
    await page.getByText(/webhooks\.allow can permit/).waitFor();
    await page.getByLabel("Address").fill(receiver.url);
    await page.getByRole("checkbox", { name: "Corrected" }).uncheck();
    await page.getByRole("dialog").getByRole("button", { name: "Add webhook" }).click();
    expect(await page.getByLabel("Secret").inputValue()).toStartWith("whsec_");
    expect(await faultsOf(page)).toEqual([]);
    await page.getByRole("button", { name: "I have saved the secret" }).click();
    await page.getByRole("region", { name: receiver.url }).getByText("Completed, Failed, Deleted").waitFor();
    const section = page.getByRole("region", { name: receiver.url });
    await section.getByRole("button", { name: "Send a test" }).click();
    await section.getByText(/^204 after \d+ ms$/).waitFor();
    expect(receiver.messages.map(({ type }) => type)).toEqual(["ping"]);
    await section.getByRole("button", { name: "New secret…" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "New secret…" }).click();
    expect(await page.getByRole("textbox", { name: "Secret" }).inputValue()).toStartWith("whsec_");
    await page.getByRole("button", { name: "I have saved the secret" }).click();
    await section.getByRole("button", { name: "Pause" }).click();
    await section.getByRole("button", { name: "Resume" }).waitFor();
    await page.setViewportSize({ width: 360, height: 740 });
    expect(await faultsOf(page)).toEqual([]);
    expect(await overhangOf(page)).toBe(0);
    await section.getByRole("button", { name: "Resume" }).click();
    await section.getByRole("button", { name: "Pause" }).waitFor();
    await section.getByRole("button", { name: "Remove" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
    await page.getByText("Events of this account are sent nowhere.").waitFor();
  });
});
