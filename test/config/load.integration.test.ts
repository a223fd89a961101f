import { describe, expect, test } from "bun:test";
import { chmodSync, mkdirSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import {
  chooseSettingsFile,
  loadSettings,
  readSettings,
  SettingsError,
  type SettingsSources,
  settingEntries,
} from "../../src/config/index.ts";

const nothing: SettingsSources = { file: undefined, environment: {}, flags: {} };

/** Returns the message with which settings of a file or of other sources are refused; the file is called FILE. */
async function refusal(toml: string | null, sources: Partial<SettingsSources> = {}): Promise<string> {
  using directory = temporaryDirectory();
  const file = join(directory.path, "transcribe.toml");
  if (toml !== null) await Bun.write(file, toml);
  try {
    loadSettings({ ...nothing, ...(toml === null ? {} : { file }), ...sources });
  } catch (error) {
    if (error instanceof SettingsError) return error.message.replaceAll(file, "FILE");
    throw error;
  }
  throw new Error("the settings were accepted");
}

const asRoot = process.getuid?.() === 0;

/** Returns the settings of a file. */
async function ofFile(toml: string) {
  using directory = temporaryDirectory();
  const file = join(directory.path, "transcribe.toml");
  await Bun.write(file, toml);
  return loadSettings({ ...nothing, file });
}

describe("settings", () => {
  test("listen on loopback and process five recordings at once by default", () => {
    const settings = loadSettings(nothing);
    expect(settings.server.host).toBe("127.0.0.1");
    expect(settings.queue.slots).toBe(5);
    expect(settings.limits.upload_bytes).toBe(512 * 1024 * 1024);
  });

  test("prefer flags to the environment, that to the file and that to the defaults, and report the origin of each value", async () => {
    using directory = temporaryDirectory();
    const file = join(directory.path, "transcribe.toml");
    await Bun.write(file, '[server]\nport = 1001\nhost = "::1"\n\n[queue]\n  slots = 2\n');
    const environment = { TRANSCRIBE_PORT: "1002", TRANSCRIBE_QUEUE_SLOTS: "3" };
    const { settings, origins } = readSettings({ file, environment, flags: { "server.port": "1003" } });
    expect(settings?.server).toMatchObject({ host: "::1", port: 1003 });
    expect(settings?.queue.slots).toBe(3);
    expect(Object.fromEntries(origins)).toMatchObject({
      "server.host": { type: "file", file, line: 3, column: 1 },
      "server.port": { type: "flag", name: "--port" },
      "queue.slots": { type: "environment", name: "TRANSCRIBE_QUEUE_SLOTS" },
      "log.level": { type: "default" },
    });
  });

  test("accept sizes and durations with units and as plain numbers, from every source", async () => {
    const settings = await ofFile(
      '[limits]\nupload_bytes = "2 GiB"\nrecording_seconds = "36h"\n[retention]\naudio_days = 3\n',
    );
    expect(settings.limits).toMatchObject({ upload_bytes: 2 * 1024 ** 3, recording_seconds: 129_600 });
    expect(settings.retention.audio_days).toBe(3);
    const environment = { TRANSCRIBE_FETCH_TIMEOUT_SECONDS: "2h", TRANSCRIBE_FETCH_STALL_SECONDS: "45" };
    expect(loadSettings({ ...nothing, environment }).fetch).toMatchObject({ timeout_seconds: 7200, stall_seconds: 45 });
  });

  test("accept lists as TOML lists in the file and separated by commas in the environment", async () => {
    expect((await ofFile("[fetch]\nallow = [\n  'a.example',\n  'b.example', # two\n]")).fetch.allow).toEqual([
      "a.example",
      "b.example",
    ]);
    const environment = { TRANSCRIBE_FETCH_ALLOW: "a.example, b.example" };
    expect(loadSettings({ ...nothing, environment }).fetch.allow).toEqual(["a.example", "b.example"]);
  });

  test("do not depend on the notation that TOML allows for them", async () => {
    const table = await ofFile("[server]\nport = 99\nhost = 'h'\n");
    const others = [
      "server.port = 99\nserver.host = 'h'",
      "server = { port = 99, host = 'h' }",
      "\uFEFF[server]\r\nport = 99\r\nhost = 'h'\r\n",
      '["server"]\n"port" = 99\n\'host\' = """h"""',
    ];
    for (const toml of others) expect(await ofFile(toml)).toEqual(table);
  });

  test("resolve relative paths of a file against its folder, and other paths against the current one", async () => {
    using directory = temporaryDirectory();
    const file = join(directory.path, "transcribe.toml");
    await Bun.write(file, "[storage]\ndata_dir = 'there/data'\nruntime_dir = '/absolute'\n");
    const { storage, server } = loadSettings({ ...nothing, file });
    expect(storage).toMatchObject({ data_dir: join(directory.path, "there/data"), runtime_dir: "/absolute" });
    expect(server.tls_key).toBe("");
    await Bun.write(file, "[engine]\nwhisper_model = 'large-v3-turbo'\n");
    expect(loadSettings({ ...nothing, file }).engine.whisper_model).toBe("large-v3-turbo");
    await Bun.write(file, "[engine]\nwhisper_model = './ggml-own.bin'\n");
    expect(loadSettings({ ...nothing, file }).engine.whisper_model).toBe(join(directory.path, "ggml-own.bin"));
    const flags = { "storage.data_dir": "here" };
    expect(loadSettings({ ...nothing, file, flags }).storage.data_dir).toBe("here");
  });

  const inFile: [string, string, string][] = [
    [
      "an unknown key and suggest the same key of another table",
      "[server]\nslots = 3",
      "FILE:2:1: server.slots: there is no such setting; did you mean queue.slots? It belongs to the table [queue].",
    ],
    [
      "a misspelt key and suggest a similar one",
      "[server]\nprot = 3",
      "FILE:2:1: server.prot: there is no such setting; did you mean server.port?",
    ],
    [
      "an unknown key without a suggestion if none is similar",
      "[server]\ncolour = 3",
      "FILE:2:1: server.colour: there is no such setting",
    ],
    [
      "a key outside its table",
      "port = 3",
      "FILE:1:1: port: there is no such setting; did you mean server.port? It belongs to the table [server].",
    ],
    ["a key with a dot in it", '"server.port" = 3', "FILE:1:1: server.port: there is no such setting"],
    [
      "an unknown table once and suggest a similar one",
      "[limit]\na = 1\nb = 2",
      "FILE:1:2: there is no table [limit]; did you mean [limits]?",
    ],
    ["an empty unknown table", "[colours]", "FILE:1:2: there is no table [colours]"],
    ["a table inside a table", "[server.tls]", "FILE:1:2: there is no table [server.tls]"],
    ["a list of tables", "[[server]]\nport = 1", "FILE:1:3: a table is written with single brackets: [server]"],
    ["a value for a table", "server = 3", "FILE:1:1: server: there is no such setting; server is a table: [server]"],
    [
      "a table for a value",
      "[server.port]",
      "FILE:1:2: server.port: a table is not allowed; it must be a whole number from 0 to 65535",
    ],
    ["a setting twice", "[server]\nport = 1\nport = 2", "FILE:3:1: this is set a second time"],
    [
      "a wrong type",
      '[server]\nport = "http"',
      'FILE:2:1: server.port: "http" is not allowed; it must be a whole number from 0 to 65535',
    ],
    ["a number that is written as a text", '[server]\nport = "80"', 'server.port: "80" is not allowed'],
    ["a fraction", "[queue]\nslots = 1.5", "queue.slots: 1.5 is not allowed"],
    [
      "a number that is far too large",
      "[queue]\nslots = 99999999999999999999",
      "queue.slots: 99999999999999999999 is not allowed",
    ],
    ["nan", "[queue]\nslots = nan", "queue.slots: nan is not allowed"],
    ["a date", "[server]\nhost = 2026-01-01", "server.host: 2026-01-01 is not allowed; it must be a host name"],
    [
      "a list with a number in it",
      "[fetch]\nallow = ['a', 3]",
      "fetch.allow: ['a', 3] is not allowed; it must be a list of texts",
    ],
    ["a text with a line break in it", '[engine]\nwhisper_model = "a\\nb"', "it has control characters"],
    [
      "a unit of another kind",
      '[limits]\nupload_bytes = "10m"',
      'limits.upload_bytes: "10m" is not allowed: m is a unit of time, and this is a size; it must be a number of bytes or a text with a unit ("512 MiB", "2GB"), from 1 byte to 64 GiB',
    ],
    ["a size out of its range", '[limits]\nupload_bytes = "65 GiB"', '"65 GiB" is not allowed; it must be'],
    ["a file that is no TOML", "[server\n", "FILE:1:8: this is not valid TOML"],
  ];
  const elsewhere: [string, Partial<SettingsSources>, string][] = [
    [
      "a missing file",
      { file: "/nowhere/transcribe.toml" },
      "/nowhere/transcribe.toml: there is no such settings file",
    ],
    [
      "an unknown variable",
      { environment: { TRANSCRIBE_PROT: "1" } },
      "TRANSCRIBE_PROT: there is no such setting; did you mean TRANSCRIBE_PORT?",
    ],
    [
      "a variable named by the path of a setting that has a shorter variable",
      { environment: { TRANSCRIBE_SERVER_PORT: "1" } },
      "TRANSCRIBE_SERVER_PORT: there is no such setting; did you mean TRANSCRIBE_PORT?",
    ],
    ["a number out of range", { environment: { TRANSCRIBE_PORT: "70000" } }, 'TRANSCRIBE_PORT: "70000" is not allowed'],
    ["a hexadecimal number", { environment: { TRANSCRIBE_PORT: "0x50" } }, 'TRANSCRIBE_PORT: "0x50"'],
    ["an empty number", { environment: { TRANSCRIBE_PORT: "" } }, 'TRANSCRIBE_PORT: "" is not allowed'],
    ["yes instead of true", { environment: { TRANSCRIBE_FETCH_ENABLED: "yes" } }, "it must be true or false"],
    [
      "an ambiguous size",
      { environment: { TRANSCRIBE_LIMITS_UPLOAD_BYTES: "512M" } },
      "is ambiguous: write MiB (by 1024) or MB (by 1000)",
    ],
    ["a bad flag", { flags: { "server.port": "-1" } }, '--port: "-1" is not allowed'],
    [
      "a word that is not one of the choices",
      { flags: { "log.level": "loud" } },
      "one of debug, info, warn, error, silent",
    ],
  ];
  test.each([
    ...inFile.map(([name, toml, message]) => [name, toml, {}, message] as const),
    ...elsewhere.map(([name, sources, message]) => [name, null, sources, message] as const),
  ])("refuse %s", async (_name, toml, sources, message) => {
    const text = await refusal(toml, sources);
    expect(text).toContain(message);
    expect(text).not.toContain("\n");
  });

  test("are refused with all faults, those of the file in its order and those of variables after them", async () => {
    const toml = "[server]\nport = 'x'\n[limit]\nz = 1\n[log]\nlevel = 1\n[queue]\nslots = 0\n";
    const lines = (await refusal(toml, { environment: { TRANSCRIBE_NOPE: "1" } })).split("\n");
    expect(lines[0]).toBe("the settings have 5 faults:");
    expect(lines.slice(1).map((line) => line.trim().split(": ")[0])).toEqual([
      ...["FILE:2:1", "FILE:3:2", "FILE:6:1", "FILE:8:1"],
      "TRANSCRIBE_NOPE",
    ]);
  });

  test("of a file that is not TOML are refused with its first fault alone", async () => {
    const toml = "[server]\nport = 'x'\ncolour == 2\nport = = 1\n";
    const lines = (await refusal(toml, { environment: { TRANSCRIBE_NOPE: "1" } })).split("\n");
    expect(lines).toEqual([
      "the settings have 2 faults:",
      "  FILE:3:9: this is not valid TOML: unexpected token",
      "  TRANSCRIBE_NOPE: there is no such setting; did you mean TRANSCRIBE_HOST?",
    ]);
  });

  test("are refused without showing a password in a link", async () => {
    const text = await refusal("[log]\nlevel = 'https://user:secret@example.org/'");
    expect(text).toContain("https://…@example.org/");
    expect(text).not.toContain("secret");
  });

  test("are refused with control characters escaped", async () => {
    const text = await refusal('[server]\n"\\u001b[2Jport" = 1\n');
    expect(text).toContain("server.\\u{1b}[2Jport: there is no such setting");
  });

  test("have a description and a unique environment variable each", () => {
    expect(settingEntries.filter((entry) => entry.description === "")).toEqual([]);
    expect(new Set(settingEntries.map((entry) => entry.env)).size).toBe(settingEntries.length);
  });
});

describe("a settings file", () => {
  const unfit: [string, (path: string) => unknown, string][] = [
    ["is a directory", (path) => mkdirSync(path), "this is a directory"],
    ["is a pipe that nobody writes to", (path) => void Bun.spawnSync(["mkfifo", path]), "not a regular file"],
    ["is not text", (path) => Bun.write(path, new Uint8Array([0x5b, 0xff, 0xfe])), "not UTF-8 text"],
    [
      "has a gigabyte",
      async (path) => {
        await Bun.write(path, "");
        truncateSync(path, 1024 ** 3);
      },
      "it has 1,073,741,824 bytes; a settings file may have at most 128 KiB",
    ],
  ];
  test.each(unfit)("that %s is refused with the reason", async (_name, make, message) => {
    using directory = temporaryDirectory();
    const file = join(directory.path, "transcribe.toml");
    await make(file);
    expect(() => loadSettings({ ...nothing, file })).toThrow(message);
  });

  if (asRoot) console.warn("SKIPPED: a settings file that the user may not read; root may read all files");
  test.skipIf(asRoot)("that the user may not read is refused with advice", async () => {
    using directory = temporaryDirectory();
    const file = join(directory.path, "transcribe.toml");
    await Bun.write(file, "");
    chmodSync(file, 0o000);
    expect(() => loadSettings({ ...nothing, file })).toThrow("may not read this settings file: run this as root");
  });

  test("is the named one, otherwise that of the environment, otherwise the default one if it exists", async () => {
    using directory = temporaryDirectory();
    const there = join(directory.path, "there.toml");
    await Bun.write(there, "");
    const missing = join(directory.path, "missing.toml");
    const choose = (named?: string, inEnvironment?: string, defaultFile = there) =>
      chooseSettingsFile({ named, inEnvironment, defaultFile });
    expect(choose("a.toml", "b.toml")).toBe("a.toml");
    expect(choose(undefined, "b.toml")).toBe("b.toml");
    expect(choose()).toBe(there);
    expect(choose(undefined, undefined, missing)).toBeUndefined();
    expect(choose(undefined, "")).toBeUndefined();
    // A named file is chosen even if it does not exist; reading it then fails.
    expect(choose(missing)).toBe(missing);
  });
});
