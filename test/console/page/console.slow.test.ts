import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { copyFileSync, mkdirSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { BrowserContext, Page } from "playwright-core";
import { available, ffmpegPath, samplePath } from "../../../harness/checkout.ts";
import { type Filled, fill } from "../../../harness/filled-console.ts";
import { startTimeout, TestServer } from "../../../harness/server.ts";
import { temporaryDirectory } from "../../../harness/temporary-directory.ts";
import { DataDirectory } from "../../../src/storage/index.ts";
import { faultsOf, found, openBrowser, openPage, overhangOf, press } from "./browser.ts";

const recording = samplePath("jfk.mp3");
const ready = found !== null && available("the console in a browser", ffmpegPath, recording);

/** Time to decode and transcribe an upload and to create its playback copy, while a browser runs. */
const transcriptionTimeout = 150_000;

/** The tests share one page: each continues where the previous one left it. */
describe.if(ready)("the console in a browser", () => {
  const server = new TestServer({ TRANSCRIBE_CONSOLE_ENABLED: "true" });
  const browser = openBrowser();
  const pageErrors: string[] = [];
  let filled: Filled;
  let context: BrowserContext;
  let page: Page;
  let link = "";
  const go = (hash: string) => page.goto(`${server.origin}/console/${hash}`);
  const transcript = () => page.getByRole("list", { name: "Transcript" });

  beforeAll(async () => {
    filled = fill(server.dataDirectory);
    await server.start();
    server.client("acme");
    context = await browser.context();
    page = await openPage(context, pageErrors);
    link = (await server.cli("console")).stdout.trim();
  }, startTimeout);
  afterAll(() => server[Symbol.asyncDispose]());

  test("signs the operator in with a link that works once, and removes it from the address", async () => {
    await page.goto(link);
    await page.getByRole("heading", { level: 1, name: "All recordings processed" }).waitFor();
    expect(page.url()).toBe(`${server.origin}/console/#/`);
    const other = await browser.context();
    const second = await other.newPage();
    await second.goto(link);
    await second.getByRole("alert").getByText("link").waitFor();
    expect(await second.getByRole("link", { name: "Recordings" }).count()).toBe(0);
    expect(await faultsOf(second)).toEqual([]);
    await other.close();
  });

  test("uploads a dropped recording and shows its progress until its transcript appears", async () => {
    const content = (await readFile(recording)).toString("base64");
    const transfer = await page.evaluateHandle((base64) => {
      const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
      const dropped = new DataTransfer();
      dropped.items.add(new File([bytes], "An inaugural address.mp3", { type: "audio/mpeg" }));
      return dropped;
    }, content);
    await page.dispatchEvent("body", "dragenter", { dataTransfer: transfer });
    await page.getByText("Drop to transcribe").waitFor();
    await page.dispatchEvent("body", "drop", { dataTransfer: transfer });
    const dialog = page.getByRole("dialog", { name: "Transcribe 1 recording" });
    await dialog.getByLabel("Account").selectOption("acme");
    await dialog.getByLabel("Language").selectOption("English");
    await dialog.getByLabel("Names and terms").fill("Leverrier\nHelstone");
    await dialog.getByLabel("At least").fill("2");
    await dialog.getByLabel("At most").fill("1");
    expect(await dialog.getByLabel("At most").evaluate((field: HTMLInputElement) => field.validity.valid)).toBe(false);
    await dialog.getByLabel("At least").fill("1");
    expect(await faultsOf(page)).toEqual([]);
    await dialog.getByRole("button", { name: "Upload", exact: true }).click();
    const tray = page.getByRole("region", { name: "Uploads" });
    await tray.getByRole("link", { name: "An inaugural address" }).click();
    await page.getByRole("heading", { name: "An inaugural address" }).waitFor();
    await transcript().getByText("ask what you can do").waitFor({ timeout: transcriptionTimeout });
    await tray.getByRole("button", { name: "Dismiss" }).click();
  }, 180_000);

  test("offers the recordings in a dropped folder for upload", async () => {
    using folder = temporaryDirectory();
    mkdirSync(join(folder.path, "deeper"));
    for (const name of ["one.mp3", "deeper/two.mp3"]) copyFileSync(recording, join(folder.path, name));
    for (const name of ["notes.txt", ".hidden"]) await Bun.write(join(folder.path, name), "no sound");
    const protocol = await context.newCDPSession(page);
    for (const type of ["dragEnter", "dragOver", "drop"] as const) {
      const data = { items: [], files: [folder.path, recording], dragOperationsMask: 1 };
      await protocol.send("Input.dispatchDragEvent", { type, x: 300, y: 300, data });
    }
    const dialog = page.getByRole("dialog", { name: "Transcribe 3 recordings" });
    await dialog.waitFor();
    await dialog.locator(".files bdi").nth(2).waitFor();
    expect(await dialog.locator(".files bdi").allTextContents()).toEqual(["two.mp3", "one.mp3", "jfk.mp3"]);
    await dialog.getByRole("button", { name: "Cancel" }).click();
  });

  test("corrects and plays from a clicked word, and marks the word that is being played", async () => {
    await page.getByRole("button", { name: "Play", exact: true }).waitFor();
    const place = await page.evaluate(() => {
      const row = [...document.querySelectorAll(".transcribed")].find(({ textContent }) =>
        textContent.includes("country"),
      );
      const text = row?.firstChild;
      if (!(text instanceof Text)) throw new Error("no segment contains the word");
      const range = new Range();
      range.setStart(text, text.data.lastIndexOf("country"));
      range.setEnd(text, text.data.lastIndexOf("country") + 7);
      const { x, y, width, height } = range.getBoundingClientRect();
      return { x: x + width / 2, y: y + height / 2 };
    });
    await page.mouse.click(place.x, place.y);
    const field = page.getByRole("textbox", { name: "Text of the segment" });
    const caret = await field.evaluate((element: HTMLTextAreaElement) => element.selectionStart);
    expect((await field.inputValue()).slice(0, caret)).toMatch(/your cou\w*$/);
    // The word, and the recording after it, are played in less time than a slow machine takes to poll.
    const player = page.getByRole("region", { name: "Player" });
    await Promise.all([
      page.waitForFunction(() => {
        const [range] = CSS.highlights.get("playing") ?? [];
        return range instanceof Range && range.toString().includes("country");
      }),
      player.getByRole("button", { name: "Pause", exact: true }).waitFor(),
      page.getByRole("toolbar").getByRole("button", { name: "Pause", exact: true }).waitFor(),
      page.keyboard.press("Control+Space"),
    ]);
    await page.keyboard.press("Alt+h");
    await page.waitForFunction(() => document.querySelector<HTMLSelectElement>(".rate select")?.value === "0.5");
    await press(page, "Alt+h", "Escape", "Space");
    await player.getByRole("button", { name: "Play", exact: true }).waitFor();
    // A repeated segment stops at its end.
    await press(page, "Enter", "Control+Shift+Space");
    await player.getByRole("button", { name: "Pause", exact: true }).waitFor();
    await player.getByRole("button", { name: "Play", exact: true }).waitFor();
    await page.keyboard.press("Escape");
    const seconds = () => page.getByRole("slider").evaluate((slider: HTMLInputElement) => slider.valueAsNumber);
    const before = await seconds();
    expect(before).toBeGreaterThan(5);
    await page.keyboard.press("ArrowLeft");
    await page.waitForFunction((most) => {
      const slider = document.querySelector<HTMLInputElement>(".wave input");
      return slider !== null && slider.valueAsNumber < most;
    }, before - 3);
  });

  test("finds words in a transcript", async () => {
    await page.keyboard.press("Control+f");
    await page.keyboard.type("COUNTRY");
    await page.getByText("1 of 2").first().waitFor();
    await page.keyboard.press("Enter");
    await page.getByText("2 of 2").first().waitFor();
    await page.keyboard.press("Escape");
  });

  test("renames a speaker and exports the transcript with the new name", async () => {
    await page.getByRole("button", { name: "Rename" }).click();
    await page.getByLabel("Speaker A").fill("The President");
    expect(await faultsOf(page)).toEqual([]);
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await transcript().getByText("The President").waitFor();
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Save as TXT" }).click(),
    ]);
    expect(download.suggestedFilename()).toBe("An inaugural address.txt");
    expect(await readFile(await download.path(), "utf8")).toMatch(/The President[\s\S]*your country/);
  });

  test("shows the server's message when an upload is refused", async () => {
    await go("#/recordings");
    await page.getByRole("button", { name: "Add a link" }).click();
    await page.getByLabel("Link to the recording").fill("http://127.0.0.1/secret.mp3");
    await page.keyboard.press("Enter");
    const tray = page.getByRole("region", { name: "Uploads" });
    await tray.getByText("address").waitFor();
    await tray.getByRole("button", { name: "Dismiss" }).click();
  });

  test("finds a recording by its transcript and opens it at the match", async () => {
    await go("#/recordings");
    await page.getByRole("searchbox").fill("fellow americans");
    await page
      .getByRole("link", { name: /fellow Americans/ })
      .first()
      .click();
    await page.getByRole("heading", { name: "An inaugural address" }).waitFor();
    await page.getByText("1 of 1").first().waitFor();
  });

  test("loads more recordings when the end of the list comes into view", async () => {
    await go("#/recordings");
    const rows = page.locator(".rows > li");
    await rows.first().waitFor();
    const first = await rows.count();
    expect(first).toBeLessThan(filled.count);
    await rows.last().scrollIntoViewIfNeeded();
    // The uploaded recording is listed too.
    await page.waitForFunction((all) => document.querySelectorAll(".rows > li").length === all, filled.count + 1);
    const names = await rows.locator(".title").allTextContents();
    expect(new Set(names).size).toBe(filled.count + 1);
    // A new recording pushes another one from the first page to a page that is already loaded.
    await server.client("press").create(recording);
    await page.waitForFunction((all) => document.querySelectorAll(".rows > li").length === all, filled.count + 2);
    await page.getByRole("radio", { name: "Failed" }).check();
    await page.getByText("No recording matches.").waitFor();
    await page.getByRole("radio", { name: "All" }).check();
    await rows.first().waitFor();
  });

  test("creates a key that works and is shown once, and revokes it", async () => {
    await go("#/accounts");
    const acme = page.getByRole("region", { name: "acme" });
    await acme.getByRole("button", { name: "New key" }).click();
    await page.getByLabel("Name of the key").fill("Newsroom");
    await page.getByLabel("Delete recordings").uncheck();
    await page.getByRole("button", { name: "Create key" }).click();
    const key = await page.getByLabel("Key", { exact: true }).inputValue();
    expect(await faultsOf(page)).toEqual([]);
    await page.getByRole("button", { name: "I have saved the key" }).click();
    const asked = () => fetch(`${server.baseUrl}/transcriptions`, { headers: { Authorization: `Bearer ${key}` } });
    expect((await asked()).status).toBe(200);
    expect(await page.content()).not.toContain(key);
    await acme.getByRole("button", { name: "Revoke Newsroom" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
    await acme.getByRole("button", { name: "Revoke Newsroom" }).waitFor({ state: "detached" });
    expect((await asked()).status).toBe(401);
  });

  test("renders only the visible part of a transcript of 10,000 segments", async () => {
    await go(`#/recordings/${filled.longId}`);
    const rows = page.locator(".segment");
    await transcript().getByText("harbour").first().waitFor();
    const counts = [await rows.count()];
    for (const share of [0.3, 0.7, 1]) {
      await page.evaluate((part) => scrollTo(0, part * document.documentElement.scrollHeight), share);
      await page.waitForFunction(() => document.querySelector(".segment .transcribed:not(.unloaded)") !== null);
      counts.push(await rows.count());
    }
    expect(Math.max(...counts)).toBeLessThan(90);
    expect(await page.locator("main *").count()).toBeLessThan(700);
    await page.evaluate(() => scrollTo(0, 0));
    await page.getByRole("searchbox").fill("zanzibar");
    await transcript().getByText("Zanzibar").waitFor();
    await page.waitForFunction(() => {
      const last = document.querySelector("[data-index='9999'] .transcribed")?.getBoundingClientRect();
      return last !== undefined && last.top > 0 && last.bottom < innerHeight;
    });
  });

  test("follows the playback until the user scrolls, and again on request", async () => {
    await go(`#/recordings/${filled.arabicId}`);
    // Without this, a slow browser may skip the Arabic recording, and the page would stay on the long one, not following.
    await transcript().getByText("الميناء").waitFor();
    await go(`#/recordings/${filled.longId}?at=30000`);
    // Segment 5,000 begins at 30,000 seconds.
    const now = page.locator("[data-index='5000'][data-now]");
    const isShown = () =>
      page.waitForFunction(() => {
        const row = document.querySelector("[data-now]")?.getBoundingClientRect();
        // It is not at the edge either.
        return row !== undefined && row.top > innerHeight / 10 && row.bottom < innerHeight;
      });
    await now.waitFor();
    await isShown();
    const back = page.getByRole("button", { name: "Back to the current word" });
    expect(await back.count()).toBe(0);
    await page.mouse.move(400, 300);
    await page.mouse.wheel(0, 5_000);
    await back.click();
    await now.waitFor();
    await isShown();
    expect(await back.count()).toBe(0);
    // From nearby, the page scrolls smoothly.
    await page.emulateMedia({ reducedMotion: "no-preference" });
    await page.mouse.wheel(0, 600);
    await back.click();
    await isShown();
    expect(await back.count()).toBe(0);
    await page.emulateMedia({ reducedMotion: "reduce" });
  });

  test("shows an Arabic transcript from right to left", async () => {
    await go(`#/recordings/${filled.arabicId}`);
    await transcript().getByText("الميناء").waitFor();
    const places = await page.evaluate(() => {
      const row = document.querySelector(".transcribed");
      const text = row?.firstChild;
      if (row === null || row === undefined || !(text instanceof Text)) throw new Error("no segment is rendered");
      const rightOf = (from: number, to: number) => {
        const range = new Range();
        range.setStart(text, from);
        range.setEnd(text, to);
        return range.getBoundingClientRect().right;
      };
      const year = text.data.indexOf("1984");
      return {
        direction: getComputedStyle(row).direction,
        language: row.getAttribute("lang"),
        isBesideTimes:
          row.getBoundingClientRect().right < (document.querySelector(".at")?.getBoundingClientRect().left ?? 0),
        edge: Math.round(row.getBoundingClientRect().right - rightOf(0, 1)),
        isInOrder: rightOf(year + 3, year + 4) > rightOf(year, year + 1),
      };
    });
    expect(places.direction).toBe("rtl");
    expect(places.language).toBe("ar");
    expect(places.edge).toBeLessThan(20);
    expect(places.isInOrder).toBe(true);
    // The times are on the side where the lines begin.
    expect(places.isBesideTimes).toBe(true);
  });

  test("shows the translation from left to right, exports it, and returns to the transcript", async () => {
    const isShown = page.getByLabel("Show the translation to English");
    await isShown.check();
    const translation = page.getByRole("list", { name: "Translation" });
    const segment = translation.getByText("We went to the harbour in 1984 before sunrise.");
    await segment.waitFor();
    expect(await segment.evaluate((row) => [getComputedStyle(row).direction, row.getAttribute("lang")])).toEqual([
      "ltr",
      "en",
    ]);
    expect(await transcript().count()).toBe(0);
    expect(await faultsOf(page)).toEqual([]);
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Save as SRT" }).click(),
    ]);
    expect(download.suggestedFilename()).toBe("حديث الميناء.en.srt");
    expect(await readFile(await download.path(), "utf8")).toContain("He laughed first and thought later.");
    await isShown.uncheck();
    await transcript().getByText("الميناء").waitFor();
  });

  test("marks words in a browser without the highlight API", async () => {
    const older = await context.newPage();
    await older.addInitScript("delete globalThis.Highlight");
    await older.goto(`${server.origin}/console/#/recordings/${filled.longId}?at=0.1&find=harbour`);
    await older.locator("[data-index='0'] .playing", { hasText: "We" }).waitFor();
    await older.locator("[data-index='0'] .found-now", { hasText: "harbour" }).waitFor();
    expect(await older.locator("[data-index='0'] .doubtful").allTextContents()).toEqual(["nobody"]);
    await older.close();
  });

  const screens = () => [
    ["the overview", "#/", "Queued and processing"],
    ["all recordings", "#/recordings", "The whole day"],
    ["what was searched for", "#/recordings?q=harbour", "before sunrise"],
    ["one recording", `#/recordings/${filled.longId}?find=nobody`, "1 of"],
    ["accounts and keys", "#/accounts", "Audio minutes today"],
  ];

  test("has no accessibility violation that axe finds on any screen, in light and dark", async () => {
    const faults: string[] = [];
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      for (const [name, hash = "", text = ""] of screens()) {
        await go(hash);
        await page.getByText(text).first().waitFor();
        faults.push(...(await faultsOf(page)).map((fault) => `${name}, ${colorScheme}: ${fault}`));
      }
    }
    expect(faults).toEqual([]);
  }, 300_000);

  test("does not scroll sideways on a phone or at 200 % zoom", async () => {
    const wide: string[] = [];
    // At 200 % a window of 1280 by 800 has half as many of the page's pixels.
    for (const [width, height] of [
      [360, 740],
      [640, 400],
    ] as const) {
      await page.setViewportSize({ width, height });
      for (const [name, hash = "", text = ""] of screens()) {
        await go(hash);
        await page.getByText(text).first().waitFor();
        if ((await overhangOf(page)) > 0) wide.push(`${name} at ${width} pixels`);
      }
    }
    await page.setViewportSize({ width: 1280, height: 860 });
    expect(wide).toEqual([]);
  });

  test("can be used with the keyboard alone", async () => {
    await go("#/");
    await page.getByRole("heading", { level: 1 }).waitFor();
    await page.reload();
    await page.getByRole("heading", { level: 1 }).waitFor();
    await page.keyboard.press("Tab");
    const focused = () => page.evaluate(() => document.activeElement?.textContent?.trim() ?? "");
    expect(await focused()).toBe("Skip to the content");
    await page.keyboard.press("Enter");
    expect(await page.evaluate(() => document.activeElement?.id)).toBe("main");
    for (let presses = 0; presses < 3; presses++) await page.keyboard.press("Shift+Tab");
    await page.getByRole("link", { name: "Accounts and keys" }).focus();
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { level: 1, name: "Accounts and keys" }).waitFor();
    // A new screen is begun at its beginning.
    await page.waitForFunction(() => document.activeElement?.id === "main");
    expect(await page.evaluate(() => scrollY)).toBe(0);
    await page.waitForFunction(() => document.title === "Accounts and keys – Transcribe");
    const opener = page.getByRole("region", { name: "acme" }).getByRole("button", { name: "New key" });
    await opener.focus();
    await page.keyboard.press("Enter");
    await page.getByRole("dialog").waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    expect(await opener.evaluate((button) => button === document.activeElement)).toBe(true);
  });

  test("deletes a recording after a confirmation", async () => {
    await go(`#/recordings/${filled.arabicId}`);
    await page.getByRole("button", { name: "Delete…" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
    await page.getByRole("heading", { level: 1, name: "Recordings" }).waitFor();
    await page.getByText("The whole day").waitFor();
    expect(await page.getByRole("link", { name: "حديث الميناء" }).count()).toBe(0);
  });

  test("retries an upload and a playback whose connection was cut", async () => {
    const other = await context.newPage();
    other.setDefaultTimeout(20_000);
    const cut = { uploads: "**/data/recordings?*", sound: "**/data/recordings/*/audio" };
    await other.route(cut.uploads, (route) => route.abort());
    await other.goto(`${server.origin}/console/#/recordings`);
    await other.locator("input[type=file]").setInputFiles(recording);
    await other.getByRole("dialog").getByRole("button", { name: "Upload", exact: true }).click();
    const tray = other.getByRole("region", { name: "Uploads" });
    await tray.getByText("The connection was lost").waitFor();
    await other.unroute(cut.uploads);
    await tray.getByRole("button", { name: "Try again" }).click();
    await other.route(cut.sound, (route) => route.abort());
    await tray.getByRole("link", { name: "jfk" }).click();
    await other.getByRole("alert").getByText("cannot be played").waitFor({ timeout: transcriptionTimeout });
    await other.unroute(cut.sound);
    await other.getByRole("alert").getByRole("button", { name: "Try again" }).click();
    await other.getByRole("button", { name: "Play", exact: true }).waitFor({ timeout: transcriptionTimeout });
    // Retention deletes the audio while the page is open.
    await other.route(cut.sound, (route) => route.abort());
    await other.reload();
    await other.getByRole("alert").getByText("cannot be played").waitFor();
    await new DataDirectory(server.dataDirectory).removeFiles(new URL(other.url()).hash.split("/").at(-1) ?? "");
    await other.getByRole("alert").getByRole("button", { name: "Try again" }).click();
    await other.getByText("no longer stored").waitFor();
    await other.close();
  }, 180_000);

  test("shows nothing after the operator has signed out", async () => {
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByText("You have signed out.").waitFor();
    await page.reload();
    await page.getByRole("heading", { name: "Sign in with a link" }).waitFor();
    expect(await page.getByText("The whole day").count()).toBe(0);
    // The session request without a session gets 401 and the refused link 422; browsers log both as errors.
    expect(pageErrors.filter((message) => !/status of (401|422)/.test(message))).toEqual([]);
  });
});
