import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { BrowserContext, Page } from "playwright-core";
import { available } from "../../../harness/checkout.ts";
import { startTimeout, TestServer } from "../../../harness/server.ts";
import { openDatabaseOf } from "../../../src/database/index.ts";
import { DataDirectory } from "../../../src/storage/index.ts";
import { tinyRecognizer } from "../../support/tiny-recognizer.ts";
import { VoiceAccount, voiceOf } from "../../support/voices.ts";
import { faultsOf, found, openBrowser, openPage, overhangOf, signIn } from "./browser.ts";

const ready = found !== null && available("voices in a browser");

/** The tests share one page: each continues where the previous one left it. */
describe.if(ready)("voices in the console in a browser", () => {
  const server = new TestServer({ ...tinyRecognizer(), TRANSCRIBE_CONSOLE_ENABLED: "true" });
  const browser = openBrowser();
  const ids: Record<"first" | "later" | "other" | "off", string> = { first: "", later: "", other: "", off: "" };
  let context: BrowserContext;
  let page: Page;
  const open = (name: keyof typeof ids) => page.goto(`${server.origin}/console/#/recordings/${ids[name]}`);
  const speakers = () => page.getByRole("region", { name: /speakers?$/ });
  const toVoices = async () => {
    await page.goto(`${server.origin}/console/#/accounts`);
    await page
      .getByRole("region", { name: "acme" })
      .getByRole("link", { name: /remembered voice/ })
      .click();
    await page.getByRole("heading", { level: 1, name: "Voices of acme" }).waitFor();
  };

  beforeAll(async () => {
    const store = openDatabaseOf(new DataDirectory(server.dataDirectory));
    const acme = await VoiceAccount.create({ store });
    const off = await VoiceAccount.create({ store, name: "cautious", isOn: false });
    ids.first = acme.record([voiceOf(1), voiceOf(2)]).recording.id;
    ids.later = acme.record([voiceOf(3), voiceOf(1, 2)]).recording.id;
    ids.other = acme.record([voiceOf(1, 3)]).recording.id;
    ids.off = off.record([voiceOf(1)]).recording.id;
    store.$client.close();
    await server.start();
    context = await browser.context();
    page = await openPage(context);
    await signIn(page, server);
  }, startTimeout);
  afterAll(() => server[Symbol.asyncDispose]());

  test("can be remembered once the speaker has a name", async () => {
    await open("first");
    await page.getByRole("button", { name: "Rename" }).waitFor();
    expect(await page.getByRole("button", { name: /Remember/ }).count()).toBe(0);
    await page.getByRole("button", { name: "Rename" }).click();
    await page.getByLabel("Speaker A").fill("Anna");
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Remember this voice of Anna" }).focus();
    await page.keyboard.press("Enter");
    await speakers().getByRole("link", { name: "Voice remembered" }).waitFor();
    expect(await page.evaluate(() => document.activeElement?.id)).toBe("speakers");
    expect(await faultsOf(page)).toEqual([]);
  });

  test("are proposed with a question mark, and are a name only after a confirmation by keyboard", async () => {
    await open("later");
    const proposal = page.getByRole("group", { name: "Is Speaker B Anna?" });
    await proposal.getByText("Anna?", { exact: true }).waitFor();
    const transcript = page.getByRole("list", { name: "Transcript" });
    await transcript.getByText("Speaker B").waitFor();
    expect(await transcript.getByText("Anna").count()).toBe(0);
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      expect(await faultsOf(page)).toEqual([]);
    }
    await proposal.getByRole("button", { name: "Confirm" }).focus();
    await page.keyboard.press("Enter");
    await transcript.getByText("Anna").waitFor();
    expect(await page.getByRole("group", { name: /Is Speaker/ }).count()).toBe(0);
  });

  test("are not proposed again for a recording after a rejection", async () => {
    await open("other");
    await page.getByRole("button", { name: "Reject" }).click();
    await page.getByRole("button", { name: "Reject" }).waitFor({ state: "detached" });
    await page.reload();
    await page.getByRole("button", { name: "Rename" }).waitFor();
    expect(await page.getByText("Anna").count()).toBe(0);
  });

  test("are listed, renamed and deleted on a page of their account", async () => {
    await toVoices();
    const row = page.getByRole("list", { name: "Remembered voices" }).getByRole("listitem");
    await row.getByText("in 2 recordings").waitFor();
    await row.getByRole("button", { name: "Rename Anna" }).click();
    await page.getByRole("dialog").getByLabel("Name").fill("Anna Meier");
    await page.keyboard.press("Enter");
    await row.getByText("Anna Meier", { exact: true }).first().waitFor();
    for (const [width, height] of [
      [1280, 860],
      [360, 740],
    ] as const) {
      await page.setViewportSize({ width, height });
      for (const colorScheme of ["light", "dark"] as const) {
        await page.emulateMedia({ colorScheme });
        expect(await faultsOf(page)).toEqual([]);
        expect(await overhangOf(page)).toBe(0);
      }
    }
    await row.getByRole("button", { name: "Delete… Anna Meier" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
    await page.getByText("No voice is remembered.").waitFor();
    await page.setViewportSize({ width: 1280, height: 860 });
  });

  test("do not exist in an account that did not opt in", async () => {
    await open("off");
    await page.getByRole("button", { name: "Rename" }).click();
    await page.getByLabel("Speaker A").fill("Anna");
    await page.keyboard.press("Enter");
    await page.getByRole("list", { name: "Transcript" }).getByText("Anna").waitFor();
    expect(await page.getByText(/remember/i).count()).toBe(0);
    await page.goto(`${server.origin}/console/#/accounts`);
    const cautious = page.getByRole("region", { name: "cautious" });
    await cautious.waitFor();
    expect(await cautious.getByText(/voice/i).count()).toBe(0);
  });
});
