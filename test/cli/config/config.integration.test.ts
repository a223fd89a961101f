import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { runCli } from "../../../harness/server.ts";
import { temporaryDirectory } from "../../../harness/temporary-directory.ts";
import { settingEntries } from "../../../src/config/index.ts";
import { runHere } from "../run-here.ts";

setDefaultTimeout(60_000);

const directory = temporaryDirectory();
afterAll(() => directory[Symbol.dispose]());

/** Writes a settings file with this content. */
async function fileOf(name: string, toml: string): Promise<string> {
  const file = join(directory.path, name);
  await Bun.write(file, toml);
  return file;
}

const place = Type.Object({
  type: Type.Literal("file"),
  file: Type.String(),
  line: Type.Integer(),
  column: Type.Integer(),
});
const named = Type.Object({
  type: Type.Union([Type.Literal("environment"), Type.Literal("flag")]),
  name: Type.String(),
});
const origin = Type.Union([place, named, Type.Object({ type: Type.Literal("default") })]);
const shownShape = Type.Object({
  file: Type.Union([Type.String(), Type.Null()]),
  settings: Type.Array(
    Type.Object({
      setting: Type.String(),
      value: Type.Unknown(),
      origin,
      default: Type.Unknown(),
      reload: Type.Boolean(),
    }),
  ),
});
const faults = Type.Array(
  Type.Object({
    setting: Type.Union([Type.String(), Type.Null()]),
    origin: Type.Union([origin, Type.Null()]),
    message: Type.String(),
  }),
);
const checkedShape = Type.Object({ file: Type.Union([Type.String(), Type.Null()]), faults, warnings: faults });

describe("transcribe config show", () => {
  test("prints the value and the origin of every setting", async () => {
    const file = await fileOf("show.toml", '[limits]\nupload_bytes = "1 GiB"\n');
    const args = ["config", "show", "--config", file, "--port", "99"];
    const environment = { TRANSCRIBE_QUEUE_SLOTS: "3" };
    const { exitCode, stdout, stderr } = await runHere([...args, "--json"], environment);
    expect([exitCode, stderr]).toEqual([0, ""]);
    const shown = Value.Parse(shownShape, JSON.parse(stdout));
    expect(shown.file).toBe(file);
    expect(shown.settings.map(({ setting }) => setting)).toEqual(settingEntries.map(({ path }) => path));
    const of = (setting: string) => shown.settings.find((each) => each.setting === setting);
    expect(of("limits.upload_bytes")).toMatchObject({
      value: 1024 ** 3,
      origin: { type: "file", file, line: 2, column: 1 },
    });
    expect(of("server.port")).toMatchObject({ value: 99, origin: { type: "flag", name: "--port" }, default: 8787 });
    expect(of("queue.slots")).toMatchObject({ value: 3, origin: { name: "TRANSCRIBE_QUEUE_SLOTS" }, reload: true });
    expect(of("log.level")).toMatchObject({ value: "info", origin: { type: "default" } });

    const forPeople = (await runHere(args, environment)).stdout;
    expect(forPeople).toStartWith(`settings file: ${file}\n`);
    expect(forPeople).toMatch(new RegExp(`^limits\\.upload_bytes +"1 GiB" +${RegExp.escape(file)}:2:1$`, "m"));
  });

  test("prints no password of a URL", async () => {
    const environment = { TRANSCRIBE_MODELS_MIRROR: "https://user:hidden@mirror.example/models" };
    for (const form of [[], ["--json"]]) {
      const { stdout } = await runHere(["config", "show", ...form], environment);
      expect(stdout).toContain("https://…@mirror.example/models");
      expect(stdout).not.toContain("hidden");
    }
  });

  test("reports that no file was read, and refuses invalid settings", async () => {
    expect((await runHere(["config", "show"])).stdout).toStartWith("settings file: none\n");
    const { exitCode, stdout, stderr } = await runHere(["config", "show"], { TRANSCRIBE_PORT: "x" });
    expect([exitCode, stdout, stderr]).toEqual([2, "", expect.stringContaining("transcribe: TRANSCRIBE_PORT: ")]);
  });
});

describe("transcribe config check", () => {
  test.each([
    ['issuer = "http://login.example.org"\nclient_id = "t"', "oidc.issuer", "must have an https address"],
    [
      'issuer = "login.example.org"\nclient_id = "t"',
      "oidc.issuer",
      "write the issuer's address as the provider shows it",
    ],
    [
      'issuer = "https://a.example/.well-known/openid-configuration"\nclient_id = "t"',
      "oidc.issuer",
      "without /.well-known/",
    ],
    ['issuer = "https://a.example"', "oidc.issuer", "set oidc.client_id, too"],
    ['client_secret_file = "none"', "oidc.client_secret_file", "can't be read"],
    ['client_secret_file = "oidc.toml"', "oidc.client_secret_file", "the client's secret alone"],
    ['rules = ["member: group sales"]', "oidc.rules", '"member: group sales" names no account'],
    ['rules = ["sales = member"]', "oidc.rules", "write ROLE ACCOUNTS: group NAME"],
  ])("explains the fault of the sign-in provider in %s", async (toml, setting, message) => {
    const file = await fileOf("oidc.toml", `[console]\nenabled = true\n\n[oidc]\n${toml}\n`);
    const { exitCode, stdout } = await runHere(["config", "check", file]);
    expect(exitCode).toBe(2);
    expect(stdout).toContain(`fault: ${file}:`);
    expect(stdout).toContain(`${setting}: `);
    expect(stdout).toContain(message);
  });

  test("finds no fault in a valid file, with exit code 0", async () => {
    const file = await fileOf("good.toml", "[queue]\nslots = 2\n");
    expect(await runHere(["config", "check", file])).toEqual({
      exitCode: 0,
      stdout: `${file}: no faults\n`,
      stderr: "",
    });
  });

  test("reports every fault with its place, also those that other parts find, with exit code 2", async () => {
    const wrong = await fileOf("wrong.toml", "[queue]\nslot = 2\n[server]\nport = 'x'\n");
    const { exitCode, stdout, stderr } = await runHere(["config", "check", wrong]);
    expect([exitCode, stderr]).toEqual([2, ""]);
    expect(stdout.trim().split("\n")).toEqual([
      `fault: ${wrong}:2:1: queue.slot: there is no such setting; did you mean queue.slots?`,
      expect.stringContaining(`fault: ${wrong}:4:1: server.port: 'x' is not allowed`),
    ]);
    const meaningless = await fileOf(
      "meaningless.toml",
      "[fetch]\nallow = ['https://user:secret@host']\n[server]\ntls_key = 'key'\n",
    );
    const checked = await runHere(["config", "check", meaningless, "--json"], {
      TRANSCRIBE_SERVER_TRUSTED_PROXIES: "x/y",
      TRANSCRIBE_SERVER_HOSTS: "a.example,https://b.example",
    });
    expect(checked.exitCode).toBe(2);
    expect(Value.Parse(checkedShape, JSON.parse(checked.stdout))).toMatchObject({
      file: meaningless,
      faults: [
        { setting: "fetch.allow", origin: { line: 2 }, message: expect.stringContaining("https://…@host: ") },
        { setting: "server.trusted_proxies", origin: { name: "TRANSCRIBE_SERVER_TRUSTED_PROXIES" } },
        { setting: "server.hosts", message: expect.stringContaining("https://b.example is not a host name") },
        {
          setting: "server.tls_key",
          origin: { line: 4 },
          message: expect.stringContaining("set both server.tls_certificate and"),
        },
      ],
      warnings: [],
    });
  });

  test("warns of settings without effect, with exit code 0", async () => {
    const file = await fileOf("warned.toml", "[fetch]\nenabled = false\nallow = ['a.example']\n");
    const { exitCode, stdout } = await runHere(["config", "check", file]);
    expect(exitCode).toBe(0);
    expect(stdout).toStartWith(`warning: ${file}:3:1: fetch.allow: this has no effect while fetch.enabled is false\n`);
  });
});

test("a server with an invalid settings file reports the line and does not start", async () => {
  const file = await fileOf("serve.toml", "[fetch]\nallow = ['10.0.0.0/99']\n");
  const { exitCode, stderr } = await runCli(["serve", "--config", file, "--data-dir", join(directory.path, "data")]);
  expect(exitCode).toBe(2);
  expect(stderr).toStartWith(`transcribe: ${file}:2:1: fetch.allow: 10.0.0.0/99: `);
});

test("commands find the data directory in the settings file, like the server", async () => {
  const file = await fileOf("accounts.toml", "[storage]\ndata_dir = 'of-the-file'\n");
  await runHere(["accounts", "create", "acme", "--config", file]);
  const listed = await runHere(["accounts", "list", "--json"], { TRANSCRIBE_CONFIG: file });
  expect(listed.stdout).toContain('"acme"');
  expect(await Bun.file(join(directory.path, "of-the-file/transcribe.db")).exists()).toBe(true);
});
