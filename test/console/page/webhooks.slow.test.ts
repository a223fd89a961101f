import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { available } from "../../../harness/checkout.ts";
import { startTimeout, TestServer } from "../../../harness/server.ts";
import { HookReceiver } from "../../support/hook-receiver.ts";
import { faultsOf, found, openBrowser, openWithAccount, overhangOf } from "./browser.ts";

const ready = found !== null && available("webhooks in a browser");

/** The tests share one page: each continues where the previous one left it. */
describe.if(ready)("webhooks in the console in a browser", () => {
  const server = new TestServer({ TRANSCRIBE_CONSOLE_ENABLED: "true", TRANSCRIBE_WEBHOOKS_ALLOW: "127.0.0.0/8" });
  const browser = openBrowser();
  let page: Page;
  let receiver: HookReceiver;

  beforeAll(async () => {
    receiver = await HookReceiver.start();
    page = await openWithAccount(server, browser, "acme");
  }, startTimeout);
  afterAll(async () => {
    await receiver?.[Symbol.asyncDispose]();
    await server[Symbol.asyncDispose]();
  });

  test("are added with a secret that is shown once", async () => {
    await page.goto(`${server.origin}/console/#/accounts`);
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
  });

  test("send a test, pause, resume, and are removed after a question", async () => {
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
