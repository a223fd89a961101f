import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { available, samplePath } from "../../../harness/checkout.ts";
import { sampleRecordingNeeds, writeMicrophoneSound } from "../../../harness/sample-recordings.ts";
import { startTimeout, TestServer } from "../../../harness/server.ts";
import { temporaryDirectory } from "../../../harness/temporary-directory.ts";
import { fakeMicrophone } from "../../../tools/shared/chromium.ts";
import { faultsOf, found, openBrowser, openPage, signIn } from "./browser.ts";

const ready = found !== null && available("live words in a browser", ...sampleRecordingNeeds);

/** Time for words on a machine that also runs other tests. */
const patience = { timeout: 120_000 };

/** The tests share one page: each continues where the previous one left it. */
describe.if(ready)("a live session with real models in a browser", () => {
  const server = new TestServer({ TRANSCRIBE_CONSOLE_ENABLED: "true" });
  // A skipped test leaves nothing behind.
  const folder = ready ? temporaryDirectory() : null;
  const microphone = join(folder?.path ?? "", "microphone.wav");
  const browser = openBrowser(fakeMicrophone(`${microphone}%noloop`));
  const errors: string[] = [];
  let page: Page;
  const words = () => page.getByRole("region", { name: "Words" });

  beforeAll(async () => {
    await writeMicrophoneSound(samplePath("jfk.mp3"), microphone);
    await server.start();
    server.client("acme");
    page = await openPage(await browser.context(), errors);
    await signIn(page, server);
    await page.getByRole("link", { name: "Live" }).click();
  }, startTimeout);
  afterAll(async () => {
    await server[Symbol.asyncDispose]();
    folder?.[Symbol.dispose]();
  });

  test("shows the words of what the microphone hears, with their speaker, while it hears more", async () => {
    await page.getByLabel("Language").selectOption("English");
    await page.getByLabel("Name of the recording").fill("An inaugural address");
    await page.getByRole("button", { name: "Start" }).click();
    await page.getByText("Listening", { exact: true }).waitFor(patience);
    await words().getByText("fellow Americans").waitFor(patience);
    await words().getByText("ask what you can do for your country").waitFor(patience);
    await page.getByRole("log", { name: "Latest words" }).getByText("country").last().waitFor(patience);
    await words().getByRole("button", { name: "Speaker 1" }).first().click(patience);
    await page.getByRole("dialog").getByLabel("Name", { exact: true }).fill("The President");
    await page.keyboard.press("Enter");
    await words().getByText("The President").first().waitFor();
    expect(await faultsOf(page)).toEqual([]);
  }, 400_000);

  test("becomes a recording whose speakers have the given names, and whose transcript can be compared with the live text", async () => {
    await page.getByRole("button", { name: "End" }).click();
    await page.getByRole("link", { name: "Open the recording" }).click(patience);
    await page.getByRole("heading", { level: 1, name: "An inaugural address" }).waitFor();
    const transcript = page.getByRole("list", { name: "Transcript" });
    await transcript.getByText("your country").first().waitFor(patience);
    await transcript.getByText("The President").first().waitFor(patience);
    await page.getByRole("button", { name: "Compare with the live text" }).click();
    const dialog = page.getByRole("dialog", { name: "Live text and transcript" });
    await dialog.locator(".difference", { hasText: "fellow" }).first().waitFor();
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      expect(await faultsOf(page)).toEqual([]);
    }
    expect(errors).toEqual([]);
  }, 400_000);
});
