import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { fill } from "../../../harness/filled-console.ts";
import { startTimeout, TestServer } from "../../../harness/server.ts";
import { openDatabaseOf } from "../../../src/database/index.ts";
import { DataDirectory } from "../../../src/storage/index.ts";
import { tinyRecognizer } from "../../support/tiny-recognizer.ts";
import { faultsOf, found, openBrowser, openPage, press, signIn } from "./browser.ts";

/** The tests share one page: each continues where the previous one left it. */
describe.if(found !== null)("uncertain speakers in a browser", () => {
  const server = new TestServer({ ...tinyRecognizer(), TRANSCRIBE_CONSOLE_ENABLED: "true" });
  const browser = openBrowser();
  const pageErrors: string[] = [];
  let page: Page;

  /** Positions of the visible segments that are marked, from 1. */
  const marked = () =>
    page
      .locator("li.segment", { has: page.getByRole("img", { name: "Uncertain speaker" }) })
      .evaluateAll((rows) => rows.map((row) => Number(row.getAttribute("aria-posinset"))));
  const isMarked = (...positions: readonly number[]) =>
    page.waitForFunction(
      (expected) =>
        [...document.querySelectorAll("li.segment:has(.uncertain)")]
          .map((row) => row.getAttribute("aria-posinset"))
          .join() === expected,
      positions.join(),
    );
  /** The focused element: its kind, the position of its segment, and what is selected or chosen there. */
  const focused = () =>
    page.evaluate(() => {
      const element = document.activeElement;
      const position = Number(element?.closest("li.segment")?.getAttribute("aria-posinset"));
      if (element instanceof HTMLSelectElement) return ["speaker", position, element.selectedOptions[0]?.text];
      if (!(element instanceof HTMLTextAreaElement)) return [element?.tagName];
      return ["text", position, element.value.slice(element.selectionStart, element.selectionEnd)];
    });
  const isSaved = () => page.locator(".editing-bar").getByText("Saved", { exact: true }).waitFor();
  /** Waits until a list of speakers has the focus, after a step that the server answers. */
  const isAtSpeaker = (position: number) =>
    page.waitForFunction((expected) => {
      const list = document.activeElement?.closest("li.segment select")?.closest("li.segment");
      return list?.getAttribute("aria-posinset") === expected;
    }, String(position));

  beforeAll(async () => {
    const { longId } = fill(server.dataDirectory, 600);
    const store = openDatabaseOf(new DataDirectory(server.dataDirectory));
    store.$client.run(
      'UPDATE segments SET is_speaker_uncertain = 1 WHERE recording_id = ? AND "index" IN (1, 4, 300)',
      [longId],
    );
    store.$client.close();
    await server.start();
    page = await openPage(await browser.context(), pageErrors);
    await signIn(page, server);
    await page.goto(`${server.origin}/console/#/recordings/${longId}`);
    await page.locator("li.segment p.transcribed:not(.unloaded)").first().waitFor();
  }, startTimeout);
  afterAll(() => server[Symbol.asyncDispose]());

  test("are marked beside their segments, without a fault in light and dark", async () => {
    await isMarked(2, 5);
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      expect(await faultsOf(page)).toEqual([]);
    }
  }, 60_000);

  test("are visited with Tab in the order of the text, between uncertain words", async () => {
    await page.locator("li.segment p.transcribed").first().focus();
    await press(page, "Enter", "Tab");
    expect(await focused()).toEqual(["text", 1, "nobody"]);
    await page.keyboard.press("Tab");
    expect(await focused()).toEqual(["speaker", 2, "Speaker A"]);
    await page.keyboard.press("Tab");
    expect(await focused()).toEqual(["speaker", 5, "Speaker B"]);
    await page.keyboard.press("Tab");
    expect(await focused()).toEqual(["text", 5, "nobody"]);
    await press(page, "Shift+Tab", "Shift+Tab");
    expect(await focused()).toEqual(["speaker", 2, "Speaker A"]);
    expect(await faultsOf(page)).toEqual([]);
  }, 60_000);

  test("are certain once a key has chosen another one, or confirmed them", async () => {
    await page.keyboard.press("ArrowDown");
    await isMarked(5);
    await isAtSpeaker(2);
    expect(await focused()).toEqual(["speaker", 2, "Speaker B"]);
    await page.keyboard.press("Tab");
    expect(await focused()).toEqual(["speaker", 5, "Speaker B"]);
    for (const [key, ...left] of [["Enter"], ["Control+z", 5], ["Enter"]] as const) {
      await page.keyboard.press(key);
      await isMarked(...left);
      await isAtSpeaker(5);
    }
    expect(await focused()).toEqual(["speaker", 5, "Speaker B"]);
    await press(page, "Shift+Tab");
    expect(await focused()).toEqual(["text", 1, "nobody"]);
    await page.keyboard.press("Escape");
    await isSaved();
  }, 60_000);

  test("stay certain when the page is opened again, and are uncertain again after an undo", async () => {
    const again = await openPage(page.context(), pageErrors);
    await again.goto(page.url());
    await again.locator("li.segment p.transcribed:not(.unloaded)").first().waitFor();
    expect(await again.getByRole("img", { name: "Uncertain speaker" }).count()).toBe(0);
    await again.close();
    await page.keyboard.press("Control+z");
    await isMarked(5);
    await page.keyboard.press("Control+z");
    await isMarked(2, 5);
    await page.keyboard.press("Control+Shift+z");
    await isMarked(5);
  }, 60_000);

  test("stay marked when speakers are merged, until there is only one", async () => {
    const merge = async () => {
      await page.getByRole("button", { name: "Merge speakers" }).click();
      await page.getByRole("button", { name: "Merge", exact: true }).click();
      await isSaved();
    };
    await merge();
    await page.getByText("2 speakers").waitFor();
    expect(await marked()).toEqual([5]);
    await merge();
    await page.getByText("1 speaker", { exact: true }).waitFor();
    await isMarked();
    expect(pageErrors).toEqual([]);
  }, 60_000);
});
