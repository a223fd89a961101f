import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { BrowserContext, Page } from "playwright-core";
import { setPassword } from "../../../src/console/index.ts";
import { changeUser, type User } from "../../../src/users/index.ts";
import { newUser, PASSWORD } from "../server/people.ts";
import { ProviderStage } from "../server/provider-stage.ts";
import { faultsOf, found, holdBack, openBrowser, overhangOf, returnTo } from "./browser.ts";

setDefaultTimeout(60_000);

const people = {
  anna: { name: "Anna Ames", email: "anna@example.org", email_verified: true, groups: ["sales"] },
  rita: { name: "Rita Roe", email: "rita@example.org", email_verified: true, groups: ["readers"] },
  omar: { name: "Omar Oz", email: "omar@example.org", email_verified: true, groups: ["admins"] },
  eve: { name: "Eve", email: "eve@example.org", email_verified: true, groups: [] },
};
const rules = ["operator: group admins", "member acme: group sales", "reader acme: group readers"];

describe.if(found !== null)("people in a browser", () => {
  const browser = openBrowser();
  const pageErrors: string[] = [];
  let stage: ProviderStage;
  let recording = "";
  let other = "";
  let local: User;

  beforeAll(async () => {
    stage = await ProviderStage.open(people, rules);
    const { server } = stage;
    recording = await server.enterSaid("acme", ["Hello world.", "Hello, Ann."], "The interview");
    other = await server.enterSaid("other", ["Nobody else reads this."], "The secret");
    local = await newUser(server, "local@example.org", "member", ["acme"]);
    await setPassword(server.api.store, "another horse entirely", server.api.operator());
  });
  afterAll(() => stage[Symbol.asyncDispose]());

  const open = async (context: BrowserContext, hash = ""): Promise<Page> => {
    const page = await context.newPage();
    page.setDefaultTimeout(20_000);
    // The browser logs answers with an error, which some tests cause, and violations of the content security policy.
    page.on("console", (message) => {
      const isOurs = message.location().url.startsWith(stage.server.origin);
      if (message.type() === "error" && isOurs && !/status of 4\d\d/.test(message.text()))
        pageErrors.push(message.text());
    });
    page.on("pageerror", (error) => pageErrors.push(String(error)));
    await page.goto(`${stage.page}${hash}`);
    return page;
  };
  const signInAt = async (page: Page, person: string) => {
    await page.getByRole("button", { name: "Sign in with Example" }).click();
    await page.getByPlaceholder("Enter any login").fill(person);
    await page.getByPlaceholder("and password").fill("any");
    await page.getByRole("button", { name: "Sign-in" }).click();
  };
  /** Waits until the button has the focus, which it gets a moment after it appears. */
  const untilButtonHasFocus = (page: Page) =>
    page.waitForFunction(() => document.activeElement?.textContent === "Sign in with Example");
  const screens = (page: Page) => page.getByRole("navigation", { name: "Screens" }).getByRole("link").allTextContents();
  const title = (page: Page, name: string) => page.getByRole("heading", { level: 1, name }).waitFor();
  const sessions = () =>
    stage.server.api.store.$client
      .query("SELECT count(*) AS rows FROM console_sessions WHERE user_id IS NOT NULL")
      .get();

  test("a member signs in by the provider, returns to the same screen, and sees the assigned account alone", async () => {
    const context = await browser.context();
    const page = await open(context, `#/recordings/${recording}`);
    await untilButtonHasFocus(page);
    expect(await faultsOf(page)).toEqual([]);
    await signInAt(page, "anna");
    await title(page, "The interview");
    expect(page.url()).toBe(`${stage.page}#/recordings/${recording}`);
    expect(await page.getByText("Signed in as Anna Ames").count()).toBe(1);
    expect(await screens(page)).toEqual(["Recordings", "Live"]);
    for (const name of ["Rename", "Delete…"]) expect(await page.getByRole("button", { name }).count()).toBe(1);
    expect(await faultsOf(page)).toEqual([]);
    await page.getByRole("link", { name: "All recordings" }).click();
    await title(page, "Recordings");
    await page.getByRole("link", { name: "The interview" }).waitFor();
    expect(await page.getByText("The secret").count()).toBe(0);
    expect(await page.getByRole("button", { name: "Upload recordings" }).count()).toBe(1);
    for (const hash of ["#/", "#/accounts"]) {
      await page.goto(`${stage.page}${hash}`);
      await title(page, "Recordings");
    }
    await page.goto(`${stage.page}#/recordings/${other}`);
    await page.getByRole("alert").getByText("There is no such recording").waitFor();
    await page.reload();
    await page.getByRole("alert").getByText("There is no such recording").waitFor();
    await context.close();
  });

  test("a reader sees and exports recordings, and is offered no change", async () => {
    const context = await browser.context();
    const page = await open(context);
    await signInAt(page, "rita");
    await title(page, "Recordings");
    expect(await page.getByRole("button", { name: "Upload recordings" }).count()).toBe(0);
    await stage.server.enterSaid("acme", ["It has just arrived."], "The other interview");
    await returnTo(page);
    await page.getByRole("link", { name: "The other interview" }).waitFor();
    await page.getByRole("link", { name: "The interview" }).click();
    await page.getByRole("list", { name: "Transcript" }).getByText("Hello world.").waitFor();
    for (const name of ["Rename", "Delete…"]) expect(await page.getByRole("button", { name }).count()).toBe(0);
    expect(await page.getByRole("heading", { name: "Export" }).count()).toBe(1);
    await page.dispatchEvent("body", "dragenter", {
      dataTransfer: await page.evaluateHandle(() => {
        const dragged = new DataTransfer();
        dragged.items.add(new File(["x"], "a.mp3"));
        return dragged;
      }),
    });
    expect(await page.getByText("Drop to transcribe").count()).toBe(0);
    // A click plays, and no text can be corrected.
    await page.getByText("Hello world.").click();
    expect(await page.locator("textarea, p.transcribed[tabindex]").count()).toBe(0);
    expect(await page.getByRole("button", { name: "Replace…" }).count()).toBe(0);
    expect(await faultsOf(page)).toEqual([]);
    await context.close();
  });

  test("a text that is typed when the session ends is saved after the sign-in by the provider", async () => {
    const context = await browser.context();
    const page = await open(context, `#/recordings/${recording}`);
    await signInAt(page, "anna");
    await title(page, "The interview");
    await page.getByText("Hello, Ann.").click();
    await page.keyboard.press("Home");
    // The save finds that the session has ended, not a question for changes before the text is typed.
    const letPass = await holdBack(page, "**/changes?*");
    stage.server.api.store.$client.run("DELETE FROM console_sessions");
    await page.keyboard.insertText("Typed in between. ");
    await page.getByText("Your session has expired").waitFor();
    await letPass();
    // The provider knows the person already.
    await page.getByRole("button", { name: "Sign in with Example" }).click();
    await page.getByText("Typed in between. Hello, Ann.").waitFor();
    const said = () => stage.server.api.client("acme").segments(recording);
    while ((await said())[1]?.text !== "Typed in between. Hello, Ann.") await page.waitForTimeout(20);
    expect(await page.evaluate(() => sessionStorage.length)).toBe(0);
    await context.close();
  });

  test("an operator of the provider sees every screen", async () => {
    const context = await browser.context();
    const page = await open(context);
    await signInAt(page, "omar");
    await page.getByRole("link", { name: "Accounts and keys" }).waitFor();
    expect(await screens(page)).toEqual(["Overview", "Recordings", "Live", "Accounts and keys"]);
    await context.close();
  });

  test("a person without a rule reads why, and one with an invalid response can try again", async () => {
    const context = await browser.context();
    const page = await open(context);
    await signInAt(page, "eve");
    await page.getByRole("alert").getByText("Example knows you, but this server gives you no access").waitFor();
    expect(page.url()).toBe(`${stage.page}#/`);
    expect(await faultsOf(page)).toEqual([]);
    await page.goto(`${stage.page}?error=access_denied&state=x`);
    await page.getByRole("alert").getByText("The response of Example is not valid").waitFor();
    await page.getByRole("button", { name: "Sign in with Example" }).waitFor();
    await context.close();
  });

  test("a sign-out also ends the session at the provider, which ends the sessions that belong to it, and no others", async () => {
    const context = await browser.context();
    stage.server.api.store.$client.run("DELETE FROM console_sessions");
    const elsewhere = await browser.context();
    const otherPage = await open(elsewhere);
    await signInAt(otherPage, "anna");
    await title(otherPage, "Recordings");
    const page = await open(context);
    await signInAt(page, "anna");
    await title(page, "Recordings");
    // Without its cookies, the same browser signs in once more; the provider still knows the person.
    await context.clearCookies({ name: "transcribe_console" });
    await page.reload();
    await page.getByRole("button", { name: "Sign in with Example" }).click();
    await title(page, "Recordings");
    expect(sessions()).toEqual({ rows: 3 });
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByRole("button", { name: "Yes, sign me out" }).click();
    await page.getByRole("button", { name: "Sign in with Example" }).waitFor();
    expect(page.url().split("?")[0]).toBe(stage.page);
    // On another device, the person has another session at the provider.
    expect(sessions()).toEqual({ rows: 1 });
    await otherPage.reload();
    await title(otherPage, "Recordings");
    await elsewhere.close();
    await page.getByRole("button", { name: "Sign in with Example" }).click();
    await page.getByPlaceholder("Enter any login").waitFor();
    await context.close();
  });

  test("a user with a password signs in with the keyboard alone, on a phone in the dark", async () => {
    const context = await browser.context({ viewport: { width: 360, height: 740 }, colorScheme: "dark" });
    const page = await open(context);
    await untilButtonHasFocus(page);
    expect(await overhangOf(page)).toBe(0);
    await page.keyboard.press("Tab");
    await page.keyboard.type("local@example.org");
    await page.keyboard.press("Tab");
    await page.keyboard.type("wrong");
    await page.keyboard.press("Enter");
    await page.getByRole("alert").getByText("The address or the password is not right").waitFor();
    expect(await faultsOf(page)).toEqual([]);
    await page.keyboard.type(PASSWORD);
    await page.keyboard.press("Enter");
    await title(page, "Recordings");
    expect(await overhangOf(page)).toBe(0);
    expect(await faultsOf(page)).toEqual([]);
    await context.close();
  });

  test("a member who becomes a reader while typing keeps the text to copy it, and learns that the account is taken away", async () => {
    const context = await browser.context();
    const page = await open(context, `#/recordings/${recording}`);
    await page.getByLabel("E-mail").fill("local@example.org");
    await page.getByLabel("Password", { exact: true }).fill(PASSWORD);
    await page.keyboard.press("Enter");
    await page.getByText("Hello world.").click();
    const { api } = stage.server;
    changeUser(api.store, local, { role: "reader" }, api.operator());
    await page.keyboard.press("End");
    // At once: what is typed after the refusal is lost.
    await page.keyboard.insertText(" Typed.");
    const notice = page.locator(".conflict");
    await notice.getByText("Your role does not allow this.").waitFor();
    await page.getByRole("button", { name: "Replace…" }).waitFor({ state: "detached" });
    await page.locator("textarea").waitFor({ state: "detached" });
    expect(await notice.locator("dd").first().textContent()).toBe("Hello world. Typed.");
    expect(await page.getByRole("button", { name: /^(Use mine|Split|Undo)$/ }).count()).toBe(0);
    expect(await page.locator("textarea, p.transcribed[tabindex]").count()).toBe(0);
    expect(await page.getByText("Saved", { exact: true }).count()).toBe(0);
    expect(await faultsOf(page)).toEqual([]);
    await notice.getByRole("button", { name: "Discard my text" }).click();
    await notice.waitFor({ state: "detached" });
    changeUser(api.store, local, { accounts: [] }, api.operator());
    await returnTo(page);
    await page.getByRole("alert").getByText("There is no such recording").waitFor();
    await context.close();
  });

  test("the operator's ways in are behind a heading that opens, and work", async () => {
    const context = await browser.context();
    const page = await open(context);
    await page.getByText("Sign in as the operator").click();
    expect(await page.getByText("transcribe console").count()).toBe(1);
    expect(await faultsOf(page)).toEqual([]);
    await page.getByLabel("Operator's password").fill("another horse entirely");
    await page.keyboard.press("Enter");
    await page.getByRole("link", { name: "Accounts and keys" }).waitFor();
    await context.close();
  });

  test("a person signs in and out behind a proxy that adds a path prefix", async () => {
    let target = "";
    const proxy = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch(request) {
        const { pathname, search } = new URL(request.url);
        if (!pathname.startsWith("/tools/")) return new Response(null, { status: 404 });
        const headers = new Headers(request.headers);
        const body = request.method === "GET" ? null : request.body;
        const to = `${target}${pathname.slice("/tools".length)}${search}`;
        return fetch(to, { method: request.method, headers, body, redirect: "manual", decompress: false });
      },
    });
    const context = await browser.context();
    await using behind = await ProviderStage.open(people, rules, {
      origin(own) {
        target = own;
        return `http://127.0.0.1:${proxy.port}/tools`;
      },
    });
    behind.server.api.account("acme");
    const page = await context.newPage();
    await page.goto(behind.page);
    await signInAt(page, "anna");
    await title(page, "Recordings");
    expect(page.url()).toBe(`${behind.page}#/`);
    await page.reload();
    await title(page, "Recordings");
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByRole("button", { name: "Yes, sign me out" }).click();
    await page.getByRole("button", { name: "Sign in with Example" }).waitFor();
    await context.close();
    await proxy.stop(true);
  });

  test("nothing violates the page's content security policy", () => {
    expect(pageErrors).toEqual([]);
  });
});
