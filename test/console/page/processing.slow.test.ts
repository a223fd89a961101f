import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { available, samplePath } from "../../../harness/checkout.ts";
import { canSeeProcesses } from "../../../harness/processes.ts";
import { sampleRecordingNeeds } from "../../../harness/sample-recordings.ts";
import { startTimeout, TestServer } from "../../../harness/server.ts";
import { StoppedWorker } from "../../support/interrupted-recording.ts";
import { faultsOf, found, openBrowser, openPage, overhangOf, signIn } from "./browser.ts";

const ready = found !== null && canSeeProcesses && available("processing again in a browser", ...sampleRecordingNeeds);

/** The tests share one page: each continues where the previous one left it. */
describe.if(ready)("a recording in the console in a browser", () => {
  const server = new TestServer({ TRANSCRIBE_CONSOLE_ENABLED: "true" });
  const browser = openBrowser();
  const errors: string[] = [];
  let id = "";
  let page: Page;
  const ask = async () => {
    await page.getByRole("button", { name: "Process again…" }).click();
    await page.getByRole("dialog").getByLabel("Speech model").waitFor();
  };
  const submit = () => page.getByRole("dialog").getByRole("button", { name: "Process again", exact: true }).click();
  const transcript = () => page.getByRole("list", { name: "Transcript" });

  beforeAll(async () => {
    await server.start();
    const client = server.client("acme");
    ({ id } = await client.create(samplePath("jfk.mp3"), { language: "en" }));
    await client.waitUntilEnded(id, 50);
    page = await openPage(await browser.context(), errors);
    await signIn(page, server);
    await page.goto(`${server.origin}/console/#/recordings/${id}`);
  }, startTimeout);
  afterAll(() => server[Symbol.asyncDispose]());

  test("is processed again in a chosen language, while its transcript stays, and shows the result by itself", async () => {
    await transcript().getByText("country").first().waitFor();
    await ask();
    const dialog = page.getByRole("dialog");
    expect(await dialog.getByLabel("Language").inputValue()).toBe("en");
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      expect([await faultsOf(page), await overhangOf(page)]).toEqual([[], 0]);
    }
    await dialog.getByLabel("Language").selectOption("de");
    await submit();
    await page.getByText("It is being processed again").waitFor();
    expect(await transcript().getByText("country").count()).toBeGreaterThan(0);
    await page.getByText(/Last corrected by/).waitFor({ timeout: 60_000 });
    await transcript().locator('[lang="de"]').first().waitFor();
    expect(await page.getByText("It is being processed again").count()).toBe(0);
    expect(await page.getByText("German").count()).toBeGreaterThan(0);
  }, 120_000);

  test("has its former transcript in its revisions, which restore brings back with its language", async () => {
    await page.getByRole("button", { name: "Show revisions" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText(/Processed again/).waitFor();
    await dialog.getByRole("button", { name: "Compare As recognized" }).click();
    await dialog.getByText(/parts? ha/).waitFor();
    await dialog.getByRole("button", { name: "Restore this revision" }).click();
    await transcript().getByText("country").first().waitFor();
    await page.getByText("English").first().waitFor();
  }, 60_000);

  test("shows that its processing was cancelled, and why it can't be processed again without its audio", async () => {
    {
      using _worker = new StoppedWorker(server);
      await ask();
      await submit();
      await page.getByText("It is being processed again").waitFor();
      await page.getByRole("button", { name: "Cancel", exact: true }).click();
      await page.getByText(/It could not be processed again/).waitFor();
    }
    expect(await faultsOf(page)).toEqual([]);
    rmSync(join(server.dataDirectory, "uploads", id));
    await ask();
    await submit();
    await page.getByRole("dialog").getByText("The audio of the recording is no longer stored").waitFor();
    expect(await faultsOf(page)).toEqual([]);
  }, 60_000);
});
