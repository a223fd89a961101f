import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { BrowserContext, Page } from "playwright-core";
import { available, ffmpegPath } from "../../../harness/checkout.ts";
import { type Filled, fill } from "../../../harness/filled-console.ts";
import { startTimeout, TestServer } from "../../../harness/server.ts";
import { openDatabaseOf } from "../../../src/database/index.ts";
import { DataDirectory } from "../../../src/storage/index.ts";
import { createUser, hashPassword } from "../../../src/users/index.ts";
import { tinyRecognizer } from "../../support/tiny-recognizer.ts";
import { faultsOf, found, holdBack, openBrowser, openPage, overhangOf, press, returnTo, signIn } from "./browser.ts";

const password = "correct horse battery";
const ready = found !== null && available("corrections in a browser", ffmpegPath);

/** The tests share one page: each continues where the previous one left it. */
describe.if(ready)("a transcript in a browser", () => {
  const server = new TestServer({ ...tinyRecognizer(), TRANSCRIBE_CONSOLE_ENABLED: "true" });
  const browser = openBrowser();
  const pageErrors: string[] = [];
  let filled: Filled;
  let context: BrowserContext;
  let page: Page;

  /** The texts of the visible segments. */
  const texts = (of = page) =>
    of.locator("li.segment").evaluateAll((rows) => rows.map((row) => row.querySelector(".transcribed")?.textContent));
  const field = (of = page) => of.getByRole("textbox", { name: "Text of the segment" });
  /** Opens the editor of a visible segment. */
  const edit = async (index: number, of = page) => {
    await of.locator("li.segment p.transcribed").nth(index).focus();
    await of.keyboard.press("Enter");
  };
  const isSaved = (of = page) => of.locator(".editing-bar").getByText("Saved", { exact: true }).waitFor();
  const open = async (of: Page, id: string) => {
    await of.goto(`${server.origin}/console/#/recordings/${id}`);
    await of.locator("li.segment p.transcribed:not(.unloaded)").first().waitFor();
  };
  /** The question for changes by others, which a page asks every few seconds. */
  const changes = "**/changes?*";
  const signedIn = () => openPage(context, pageErrors);

  beforeAll(async () => {
    filled = fill(server.dataDirectory, 600);
    await server.start();
    context = await browser.context();
    page = await signedIn();
    await signIn(page, server);
  }, startTimeout);
  afterAll(() => server[Symbol.asyncDispose]());

  test("is corrected with the keyboard alone, and saved while the user types", async () => {
    await open(page, filled.longId);
    const first = page.locator("li.segment p.transcribed").first();
    await first.focus();
    await press(page, "ArrowDown", "Enter");
    expect(await field().inputValue()).toBe("It was, but you would not have known it from looking at us.");
    // The text behind the field shows marks alone, and breaks its lines where the field does.
    const drawn = await field().evaluate((element) => {
      const text = element.parentElement?.querySelector(".transcribed") ?? element;
      const others = document.querySelector("li.segment p.transcribed") ?? element;
      const boxes = [element, text, others].map((each) => each.getBoundingClientRect());
      return {
        lefts: new Set(boxes.map(({ left }) => left)).size,
        widths: boxes.map(({ width }) => width),
        colours: ["playing", "found", "found-now"].map((name) => getComputedStyle(text, `::highlight(${name})`).color),
      };
    });
    expect(drawn).toEqual({ lefts: 1, widths: [672, 672, 672], colours: Array(3).fill("rgba(0, 0, 0, 0)") });
    expect(await faultsOf(page)).toEqual([]);
    await page.keyboard.type("Perhaps. ");
    await isSaved();
    await page.keyboard.press("Escape");
    expect((await texts())[1]).toBe("Perhaps. It was, but you would not have known it from looking at us.");
    expect(await page.evaluate(() => document.activeElement?.className)).toBe("transcribed");
    await page.reload();
    await page.locator("li.segment").nth(1).getByText("Perhaps. It was").waitFor();
  }, 60_000);

  test("is split at the cursor and merged again, and the cursor stays at the place", async () => {
    await edit(1);
    // The message of a refused split does not cover the text, and goes with the next correction.
    await page.locator(".editor").evaluate((element) => scrollBy(0, element.getBoundingClientRect().top - 60));
    await page.keyboard.press("Enter");
    const refusal = page.getByText("Place the cursor between two words");
    await refusal.waitFor();
    const [above, below] = [await refusal.boundingBox(), await field().boundingBox()];
    expect((above?.y ?? 0) + (above?.height ?? 0)).toBeLessThan(below?.y ?? 0);
    for (let step = 0; step < 9; step++) await page.keyboard.press("ArrowRight");
    await page.keyboard.press("Enter");
    await page.waitForFunction(() => document.querySelectorAll("li.segment")[2]?.contains(document.activeElement));
    expect((await texts()).slice(1, 3)).toEqual([
      "Perhaps.",
      "It was, but you would not have known it from looking at us.",
    ]);
    expect(await refusal.count()).toBe(0);
    expect(await page.locator("li.segment .at").nth(2).textContent()).toBe("0:06");
    await page.keyboard.press("Backspace");
    await page.waitForFunction(() => document.querySelectorAll("li.segment")[1]?.contains(document.activeElement));
    expect((await texts())[1]).toBe("Perhaps. It was, but you would not have known it from looking at us.");
    await page.keyboard.type("But ");
    await press(page, "End", "Delete");
    await page.getByText("looking at us. He laughed first").waitFor();
    await isSaved();
  }, 60_000);

  test("is taken back step by step, and made again", async () => {
    await press(page, "Escape", "Control+z");
    await page.waitForFunction(() => document.querySelectorAll("li.segment")[2]?.textContent?.includes("He laughed"));
    await page.keyboard.press("Control+z");
    await page.getByText("Perhaps. It was").waitFor();
    await page.keyboard.press("Control+Shift+z");
    await page.getByText("Perhaps. But It was").waitFor();
    await page.getByRole("button", { name: "Undo" }).click();
    await page.getByText("Perhaps. It was").waitFor();
    await isSaved();
  }, 60_000);

  test("leads to the next uncertain word with the tab key", async () => {
    await edit(0);
    const selected = () =>
      field().evaluate((element: HTMLTextAreaElement) =>
        element.value.slice(element.selectionStart, element.selectionEnd),
      );
    await page.keyboard.press("Tab");
    expect(await selected()).toBe("nobody");
    const before = await page.locator("li.segment:has(textarea)").getAttribute("aria-posinset");
    await page.keyboard.press("Tab");
    await page.waitForFunction((at) => {
      const row = document.activeElement?.closest("li.segment");
      return row !== null && row?.getAttribute("aria-posinset") !== at;
    }, before);
    expect(await selected()).toBe("nobody");
    // The playback begins at this word.
    const seconds = () => page.getByRole("slider").evaluate((slider: HTMLInputElement) => slider.valueAsNumber);
    const word = 6 * (Number(await page.locator("li.segment:has(textarea)").getAttribute("aria-posinset")) - 1);
    await page.waitForFunction(
      (least) => (document.querySelector<HTMLInputElement>(".wave input")?.valueAsNumber ?? 0) > least,
      word,
    );
    expect(await seconds()).toBeLessThan(word + 5);
    await page.keyboard.press("Shift+Tab");
    await page.waitForFunction(
      (at) => document.activeElement?.closest("li.segment")?.getAttribute("aria-posinset") === at,
      before,
    );
    await page.keyboard.press("Escape");
  }, 60_000);

  test("loses an emptied segment when its field is left, and not while the user types in it", async () => {
    const [first, second, third] = await texts();
    await edit(1);
    await press(page, "Control+a", "Delete");
    await page.getByText("It is deleted when you leave the field.").waitFor();
    // Longer than the pause after which a text is saved.
    await page.waitForTimeout(1_000);
    expect(await field().evaluate((element) => element === document.activeElement)).toBe(true);
    await page.keyboard.type("Retyped.");
    expect((await texts()).slice(0, 3)).toEqual([first, "Retyped.", third]);
    await press(page, "Control+a", "Backspace", "Backspace", "Escape");
    await isSaved();
    expect((await texts()).slice(0, 2)).toEqual([first, third]);
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe(third ?? "");
    await page.keyboard.press("Control+z");
    await page
      .getByText(second ?? "")
      .first()
      .waitFor();
    await isSaved();
  }, 60_000);

  test("gets other speakers for a segment, and for all of a speaker", async () => {
    await edit(1);
    // A connection that breaks when the page asks for the speakers again delays them.
    await page.route(`**/recordings/${filled.longId}`, (route) => route.abort(), { times: 1 });
    await press(page, "Alt+s", "End", "Enter");
    const speakers = page.locator(".speakers .speaker");
    await page.getByRole("heading", { name: "4 speakers" }).waitFor();
    // A new speaker who appears second is B, as in the API.
    expect(await page.locator("li.segment .speaker").nth(1).textContent()).toBe("Speaker B");
    await page.getByRole("button", { name: "Merge speakers" }).click();
    const dialog = page.getByRole("dialog", { name: "Merge two speakers" });
    expect(await faultsOf(page)).toEqual([]);
    await dialog.getByLabel(/^Speaker/).selectOption("Speaker B");
    await dialog.getByLabel("is the same person as").selectOption("Speaker A");
    await dialog.getByRole("button", { name: "Merge", exact: true }).click();
    await page.getByRole("heading", { name: "3 speakers" }).waitFor();
    expect(await speakers.allTextContents()).toEqual(["Speaker A", "Speaker B", "Speaker C"]);
  }, 60_000);

  test("is searched for a text, which is replaced after a preview", async () => {
    await page.getByLabel("Find in this transcript").fill("harbour");
    await page.getByText("1 of ").waitFor();
    await page.getByRole("button", { name: "Replace…" }).click();
    const dialog = page.getByRole("dialog", { name: "Find and replace" });
    expect(await dialog.getByLabel("Find", { exact: true }).inputValue()).toBe("harbour");
    // Enter in a field goes on to the next one, and an empty replacement needs the button.
    const deletion = dialog.getByRole("button", { name: "Delete the text in 150 segments" });
    await deletion.waitFor();
    await dialog.getByLabel("Find", { exact: true }).focus();
    await press(page, "Enter", "Enter");
    expect(await deletion.evaluate((element) => element === document.activeElement)).toBe(true);
    await dialog.getByLabel("Replace with").fill("station");
    await dialog.getByText("down to the station before").first().waitFor();
    expect(await faultsOf(page)).toEqual([]);
    const sizes = await dialog
      .getByRole("checkbox")
      .evaluateAll((boxes) => boxes.map((box) => box.getBoundingClientRect().width));
    expect(new Set(sizes).size).toBe(1);
    const action = await dialog.getByRole("button", { name: /^Replace in/ }).boundingBox();
    expect((action?.y ?? 0) + (action?.height ?? 0)).toBeLessThan(844);
    await dialog.getByRole("checkbox", { name: /^0:00/ }).uncheck();
    const submit = dialog.getByRole("button", { name: /^Replace in/ });
    const count = Number((await submit.textContent())?.replace(/\D/g, ""));
    expect(count).toBe(149);
    await submit.click();
    await dialog.waitFor({ state: "detached" });
    await page.getByLabel("Find in this transcript").fill("station");
    await page.getByText(`1 of ${count}`, { exact: true }).waitFor();
    await page.getByRole("button", { name: "Undo" }).click();
    await page.getByText("No matches").waitFor();
    await isSaved();
    await page.getByLabel("Find in this transcript").fill("");
  }, 60_000);

  test("keeps its revisions, which can be compared and restored", async () => {
    await page.reload();
    await page.getByRole("button", { name: "Show revisions" }).click();
    const dialog = page.getByRole("dialog", { name: "Revisions of the transcript" });
    await dialog.getByText("Speakers merged, ").waitFor();
    expect(await faultsOf(page)).toEqual([]);
    await dialog.getByRole("button", { name: "Compare As recognized" }).click();
    await dialog.getByText("1 part has changed since.").waitFor();
    expect(await dialog.locator("ins").allTextContents()).toContain("Perhaps. ");
    expect(await faultsOf(page)).toEqual([]);
    await dialog.getByRole("button", { name: "Restore this revision" }).click();
    await dialog.waitFor({ state: "detached" });
    await page.locator("li.segment").nth(1).getByText("It was, but you would").waitFor();
    expect((await texts())[1]).toBe("It was, but you would not have known it from looking at us.");
  }, 60_000);

  test("shows what another person changes, and asks which text of two stays", async () => {
    const other = await signedIn();
    const letPass = await holdBack(other, changes);
    await open(other, filled.longId);
    await edit(1, other);
    await edit(1);
    await page.keyboard.type("Mine. ");
    await isSaved();
    await other.keyboard.type("Theirs. ");
    await letPass();
    const notice = other.locator(".conflict");
    await notice.getByText("Somebody changed this segment while you typed.").waitFor();
    await notice.getByText("Mine. It was").waitFor();
    expect(await notice.locator("dd").allTextContents()).toEqual([
      "Theirs. It was, but you would not have known it from looking at us.",
      "Mine. It was, but you would not have known it from looking at us.",
    ]);
    expect(await faultsOf(other)).toEqual([]);
    // The text is kept on other screens, and the browser asks before the page is left.
    await other.getByText("Not saved", { exact: true }).waitFor();
    await other.getByRole("link", { name: "All recordings" }).click();
    await other.getByText("A text that you typed was not saved.").waitFor();
    expect(await faultsOf(other)).toEqual([]);
    other.once("dialog", (dialog) => void dialog.dismiss());
    const asked = other.waitForEvent("dialog");
    void other.reload().catch(() => {});
    expect((await asked).type()).toBe("beforeunload");
    await other.getByRole("status").getByRole("link", { name: "The whole day" }).click();
    await notice.getByText("Mine. It was").waitFor();
    await notice.getByRole("button", { name: "Use mine" }).click();
    await isSaved(other);
    await returnTo(page);
    await page.waitForFunction(() => document.querySelector("textarea")?.value.startsWith("Theirs."));
    await page.getByText("Changed meanwhile by").waitFor();
    await other.close();
  }, 60_000);

  test("asks before it overwrites another person's text, also if the text arrives while the user types", async () => {
    const other = await signedIn();
    const letPass = await holdBack(page, changes);
    await open(other, filled.longId);
    for (const each of [page, other]) {
      await edit(4, each);
      await field(each).waitFor();
    }
    await other.keyboard.type("Theirs. ");
    await isSaved(other);
    // The next save waits until the user pauses, and in between the page asks for changes.
    const asked = page.waitForResponse((response) => response.url().includes("/changes?"));
    const typing = async () => {
      let isAsked = false;
      void asked.then(() => {
        isAsked = true;
      });
      await page.keyboard.type("mmm");
      await letPass();
      await returnTo(page);
      while (!isAsked) await page.keyboard.type("m", { delay: 200 });
    };
    await typing();
    const notice = page.locator(".conflict");
    await notice.locator("dd", { hasText: /^Theirs\. / }).waitFor();
    expect(await notice.locator("dd").nth(0).textContent()).toStartWith("mmm");
    expect(await notice.locator("dd").nth(1).textContent()).toStartWith("Theirs. ");
    await page.waitForFunction(() => document.querySelector("textarea")?.value.startsWith("Theirs. "));
    // Until the user has chosen, nothing is typed into the other person's text.
    await page.keyboard.type("x");
    expect(await field().inputValue()).toStartWith("Theirs. ");
    await notice.getByRole("button", { name: "Keep the current text" }).click();
    await field().focus();
    await page.keyboard.press("Home");
    await page.keyboard.type("Mine, too. ");
    await isSaved();
    await other.close();
    await page.keyboard.press("Escape");
    expect((await texts())[4]).toStartWith("Mine, too. Theirs. ");
  }, 60_000);

  test("takes what is typed on a slow network to its place", async () => {
    await page.route("**/corrections", async (route) => {
      await new Promise((resolve) => setTimeout(resolve, 300));
      await route.continue();
    });
    await edit(8);
    const before = await field().inputValue();
    await page.keyboard.type("First. ");
    await page.keyboard.press("Enter");
    await page.keyboard.type("Second, ");
    await page.waitForFunction(() => document.querySelector("textarea")?.value.startsWith("Second, "));
    expect((await texts()).slice(8, 10)).toEqual(["First.", `Second, ${before}`]);
    await press(page, "Home", "Backspace");
    await page.keyboard.type("(joined) ");
    await page.waitForFunction(() => document.querySelector("textarea")?.value.startsWith("First. (joined) "));
    await isSaved();
    expect((await texts())[8]).toBe(`First. (joined) Second, ${before}`);
    await page.keyboard.press("Escape");
    await edit(0);
    await page.keyboard.type("Well then, ");
    await page.keyboard.press("Tab");
    await page.keyboard.type("some");
    await page.keyboard.press("Tab");
    await page.keyboard.type("none");
    await page.keyboard.press("Escape");
    await isSaved();
    expect((await texts())[0]).toStartWith("Well then, We went down to the harbour before sunrise, and some had told");
    expect((await texts())[4]).toContain("and none had told us");
    await page.unroute("**/corrections");
  }, 60_000);

  test("keeps what was typed while the server is down, and saves it after a restart", async () => {
    await edit(1);
    await page.keyboard.press("Control+a");
    await page.keyboard.type("Before the crash.");
    await isSaved();
    await server.killHard();
    await page.keyboard.type(" During it.");
    await page.getByText("Not saved yet").waitFor();
    // A step waits visibly, and once.
    await press(page, "Home", "Control+ArrowRight");
    for (const _ of ["first", "again"]) {
      await page.keyboard.press("Enter");
      await page.getByText("The split waits for the server.").waitFor();
      await page.keyboard.type("Not ");
      await press(page, "Escape", "Enter");
    }
    expect(await page.getByRole("button", { name: "Split" }).isDisabled()).toBe(true);
    // The uncertain words that are loaded need no connection.
    await page.keyboard.press("Tab");
    await page.keyboard.type("Anybody");
    await server.restartOnSamePort();
    await isSaved();
    await page.keyboard.press("Escape");
    expect((await texts()).slice(1, 3)).toEqual(["Before", "the crash. During it."]);
    await page.getByText("and Anybody had told us").waitFor();
    await page.reload();
    await page.locator("li.segment").nth(2).getByText("the crash. During it.").waitFor();
  }, 60_000);

  test("saves what was typed without a connection from another screen, and only for its author", async () => {
    const store = openDatabaseOf(new DataDirectory(server.dataDirectory));
    const omar = { email: "omar@example.org", name: "Omar", role: "member", accounts: "all" } as const;
    createUser(store, { ...omar, passwordHash: await hashPassword(password) }, { actor: "test", now: Date.now() });
    store.$client.close();
    await edit(1);
    await context.setOffline(true);
    await page.keyboard.type("Offline. ");
    await page.getByText("Not saved yet").waitFor();
    await page.getByRole("link", { name: "All recordings", exact: false }).first().click();
    const notice = page.getByText("Corrections are not saved yet");
    await notice.waitFor();
    // The session has ended, and somebody else signs in on this page.
    const cookies = await context.cookies();
    await context.clearCookies();
    await context.setOffline(false);
    await page.getByText("Your session has expired").waitFor();
    await page.getByLabel("E-mail").fill(omar.email);
    await page.getByLabel("Password", { exact: true }).fill(password);
    await page.keyboard.press("Enter");
    await page.getByText("The whole day").first().waitFor();
    const reader = await context.newPage();
    await open(reader, filled.longId);
    expect((await texts(reader))[1]).not.toContain("Offline.");
    await reader.close();
    // The author signs in again.
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByText("You have signed out").waitFor();
    await context.addCookies(cookies);
    await page.goto((await server.cli("console")).stdout.trim().replace(/^[^#]*/, `${server.origin}/console/`));
    await page.getByRole("link", { name: "Recordings" }).click();
    await page.getByText("The whole day").first().click();
    await page.locator("li.segment").nth(1).getByText("Offline.").waitFor();
  }, 60_000);

  test("says how to bring the segments back when all are deleted", async () => {
    await open(page, filled.arabicId);
    await edit(0);
    for (const left of [2, 1, 0]) {
      await page.getByRole("button", { name: "Delete segment" }).click();
      await page.waitForFunction((count) => document.querySelectorAll("li.segment").length === count, left);
    }
    await page.getByText("All segments are deleted.").waitFor();
    expect(await faultsOf(page)).toEqual([]);
    await page.getByRole("button", { name: "Undo" }).click();
    await page.locator("li.segment").waitFor();
    await isSaved();
  }, 60_000);

  test("is corrected on a telephone, in the dark", async () => {
    const telephone = await browser.context({
      viewport: { width: 390, height: 800 },
      colorScheme: "dark",
      hasTouch: true,
    });
    await telephone.addCookies(await context.cookies());
    const small = await telephone.newPage();
    await open(small, filled.longId);
    await small.locator("li.segment p.transcribed").nth(1).tap();
    await field(small).waitFor();
    expect([await faultsOf(small), await overhangOf(small)]).toEqual([[], 0]);
    await telephone.close();
  }, 60_000);

  test("logs no errors in the browser but refused requests and lost connections", () => {
    expect(pageErrors.filter((message) => !/401|409|422|net::ERR_/.test(message))).toEqual([]);
  });
});
