import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { Type } from "@sinclair/typebox";
import { runCli } from "../../harness/server.ts";
import { ConsoleServer } from "../support/console.ts";
import { Commands, shape } from "./support.ts";

setDefaultTimeout(60_000);

const linkShape = shape({ link: Type.String(), expires_at: Type.String() });
const endedShape = shape({ sessions: Type.Integer() });

describe("transcribe console, with a running server,", () => {
  const server = new ConsoleServer();
  afterAll(() => server[Symbol.dispose]());
  const commands = new Commands(server.api.dataDirectory.root);

  /** Runs `console password` with this standard input. */
  const setPassword = (text: string, environment = {}, by = commands) =>
    by.runWith(text, ["console", "password"], { TRANSCRIBE_CONSOLE_ENABLED: "true", ...environment });

  test("prints a link that opens the console, and notes about obstacles", async () => {
    const plain = await commands.run("console");
    expect(plain.stdout).toMatch(/^http:\/\/127\.0\.0\.1:8787\/console\/#enter=[\w-]{43}\n$/);
    for (const part of ["console.enabled", "no server is running", "--server"]) expect(plain.stderr).toContain(part);
    const args = ["console", "--server", "https://box.example.org/transcribe/"];
    const { link, expires_at } = await commands.json(linkShape, ...args);
    expect(link).toStartWith("https://box.example.org/transcribe/console/#enter=");
    expect(Date.parse(expires_at)).toBeGreaterThan(Date.now());
    const browser = server.stranger();
    await browser.enter({ token: link.split("#enter=")[1] ?? "" });
    expect((await browser.data("/overview")).status).toBe(200);
  });

  test.each(["box.example.org", "ftp://box", "https://user:secret@box", "https://box/?x", "https://box/#x"])(
    "takes no %s for a server",
    async (address) => {
      const { exitCode, stdout, stderr } = await commands.run("console", "link", "--server", address);
      expect([exitCode, stdout]).toEqual([2, ""]);
      expect(stderr).toContain("https://transcribe.example.org");
      expect(stderr).not.toContain("secret");
    },
  );

  test("sets a password from standard input, and removes it", async () => {
    const process = new Commands(server.api.dataDirectory.root, runCli);
    expect(await setPassword("correct horse battery\nmore\n", {}, process)).toEqual({
      ...{ exitCode: 0, stdout: "the password is set\n", stderr: "" },
    });
    await server.stranger().enter({ password: "correct horse battery" });
    for (const [name, note] of [
      ["TRANSCRIBE_CONSOLE_ENABLED", "the console is off"],
      ["TRANSCRIBE_CONSOLE_OPERATOR_PASSWORD", "console.operator_password is false"],
    ] as const) {
      const { stdout, stderr } = await setPassword("correct horse battery\n", { [name]: "false" });
      expect([stdout, stderr]).toEqual(["the password is set\n", expect.stringContaining(note)]);
    }
    expect((await setPassword("short\n")).stderr).toContain("12 to 256 characters");
    expect((await setPassword("")).stderr).toContain("standard input has no password");
    expect((await commands.run("console", "password", "--remove")).stdout).toBe("the password is removed\n");
    expect((await commands.run("console", "password", "--remove")).stdout).toBe("there was no password\n");
    expect(server.stranger().enter({ password: "correct horse battery" })).rejects.toThrow("401");
  });

  test("signs out everywhere", async () => {
    const operator = await server.operator();
    const { sessions } = await commands.json(endedShape, "console", "sign-out");
    expect(sessions).toBeGreaterThanOrEqual(1);
    expect((await operator.data("/session")).status).toBe(401);
    expect((await commands.run("console", "sign-out")).stdout).toBe("0 sessions ended\n");
  });

  test("records each change in the audit log with its user", async () => {
    const { stdout } = await commands.run("audit", "--limit", "50", "--json");
    const entries = JSON.parse(stdout) as { action: string; details: object }[];
    const actions = new Set(entries.map(({ action }) => action));
    for (const action of ["console.link", "console.enter", "console.password", "console.sign-out"]) {
      expect(actions).toContain(action);
    }
    expect(stdout).not.toContain("correct horse");
  });
});
