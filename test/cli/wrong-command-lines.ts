/** Wrong command lines of one command, in addition to those that follow from its declaration. */
interface WrongCommandLines {
  /** Arguments of a valid command line, operands first. */
  readonly valid: readonly string[];
  /** Wrong values by option or argument. "any text" is wrong only for a reason outside of the command line. */
  readonly values: Readonly<Record<string, readonly string[] | "any text">>;
  /** Arguments that are wrong together. */
  readonly together?: readonly (readonly string[])[];
}

const id = "01890a5d-ac96-774b-bcce-b302099a8057";
const ids = ["", "7", "../languages", `${id}0`, "trs_abcdefg"];
const names = ["", "two words", "a/b", "-".padStart(65, "a")];
const numbers = ["", "-1", "0", "1.5", "few", "1e3", "9999999999"];
const times = [
  "",
  "7x",
  "90",
  "soon",
  "2026-02-30",
  "2026-13-01",
  "2026-12-31T25:00:00Z",
  "2026-12-31 noon",
  "999999999d",
];
const links = ["", "localhost", "ftp://example.org", "http://user:secret@example.org", "https://example.org/?a"];
const paths = ["", "relative/path", "."];

const settings = { "--config": ["/no/such/file.toml"], "--data-dir": ["", " "] };
const serving = {
  ...settings,
  "--host": ["", "two words", "http://127.0.0.1"],
  "--port": ["", "-1", "65536", "http"],
  "--fleet": ["ftp://10.0.0.5", "two words"],
  "--log-level": ["", "loud"],
};
const server = { ...settings, "--server": links, "--key-file": [""], "--ca": [""] };
const hints = {
  "--language": ["", "english", "e", "1"],
  "--prompt": ["…", "a\u0007b", "x".repeat(2001)],
  "--speakers": ["", "0", "51", "two"],
  "--min-speakers": ["", "0", "51", "two"],
  "--max-speakers": ["", "0", "51", "two"],
};
const hintsTogether = [
  ["--speakers", "2", "--min-speakers", "1"],
  ["--min-speakers", "3", "--max-speakers", "2"],
];
const changesOfAccount = { "--subscription": times, "--priority": ["", "1.5", "high", "9999999999"] };
const limits = ["", "-1", "1.5", "many"];
const users = { "--name": ["", "a\nb", "x".repeat(201)], "--account": names };

const recordingChange = { valid: [id], values: { ...settings, id: ids } };
const userChange = { valid: ["anna@example.org"], values: { ...settings, user: ["", " "] } };

/** Wrong command lines by command. */
export const wrongCommandLines: Readonly<Record<string, WrongCommandLines>> = {
  serve: { valid: [], values: serving },
  worker: {
    valid: ["--fleet", "tls://127.0.0.1:1"],
    values: { ...settings, "--fleet": serving["--fleet"], "--log-level": serving["--log-level"] },
    together: [[]],
  },
  "fleet init": {
    valid: ["--directory", "fleet", "--broker", "a.example.org", "--worker", "w1"],
    values: {
      "--directory": [""],
      "--broker": ["", "two words", "tls://a.example.org", "a:4222/x"],
      "--port": ["0", "65536", "nats"],
      "--worker": ["", "two words", "a/b", "broker", "coordinator", "w1"],
      "--add": ["w2"],
      "--renew": ["w1"],
    },
    together: [
      ["--directory", "fleet"],
      ["--directory", "fleet", "--worker", "w1"],
      ["--directory", "fleet", "--add", "w1", "W1"],
      ["--directory", "fleet", "--add", "a/b"],
      ["--directory", "fleet", "--add", "w1", "--port", "1"],
    ],
  },
  "fleet revoke": { valid: ["w1", "--directory", "fleet"], values: { name: [""], "--directory": [""] } },
  "fleet status": {
    valid: ["--fleet", "tls://127.0.0.1:1"],
    values: { ...settings, "--fleet": serving["--fleet"] },
    together: [[]],
  },
  "service install": {
    valid: ["--dry-run"],
    values: {
      "--user": ["", "Anna", "two words", "a/b"],
      "--data-dir": [...paths, "/home/anna", "/srv/../etc", "/srv/two words"],
      "--config": [...paths, "/tmp/a.toml"],
      "--worker": [""],
      "--root": [""],
    },
    together: [
      ["--from-package", "--worker"],
      ["--from-package", "--user", "anna"],
      ["--from-package", "--no-start"],
    ],
  },
  "service uninstall": {
    valid: ["--dry-run"],
    values: { "--root": [""] },
    together: [["--purge"], ["--yes"], ["--yes", "--dry-run"]],
  },
  "service status": {
    valid: [],
    values: { ...settings, "--host": serving["--host"], "--port": serving["--port"] },
  },
  quickstart: {
    valid: ["there.mp3"],
    values: { ...serving, ...hints, recording: ["", "https://example.org/a.mp3"] },
    together: hintsTogether.map((each) => ["there.mp3", ...each]),
  },
  "config show": { valid: [], values: serving },
  "config check": {
    valid: [],
    values: { ...serving, "--config": "any text", file: [""] },
    together: [["a.toml", "--config", "b.toml"]],
  },
  "config example": { valid: [], values: {} },
  "config docs": { valid: [], values: {} },
  submit: {
    valid: ["there.mp3"],
    values: {
      ...server,
      ...hints,
      recording: ["", "http://", "https://a b/"],
      "--output": ["", "talk.mp3"],
      "--every": ["", "0", "-1", "often"],
      "--name": ["", "talk.mp3"],
    },
    together: [
      ...hintsTogether.map((each) => ["there.mp3", "-o", "new/", ...each]),
      ["a.mp3", "b.mp3", "-o", "all.txt"],
      ["a/talk.mp3", "b/talk.wav", "-o", "new/"],
      ["a.mp3", "--json", "--format", "srt"],
      ["a.mp3", "-o", "new/", "--server", "nowhere"],
      ["-", "-"],
      ["-", "a.mp3", "-"],
    ],
  },
  watch: { valid: [], values: { ...server, id: ids, "--every": ["", "0", "-1", "often"] } },
  list: {
    valid: [],
    values: { ...server, "--status": ["", "done", "queued,,failed", "Queued"], "--limit": numbers },
    together: [["--all", "--limit", "5"]],
  },
  get: { valid: [id], values: { ...server, id: ids } },
  export: { valid: [id], values: { ...server, id: ids, "--output": ["", "talk.mp3"] } },
  delete: { valid: [id], values: { ...server, id: ids }, together: [[id, "7"]] },
  run: {
    valid: ["there.mp3"],
    values: {
      ...settings,
      "--log-level": serving["--log-level"],
      ...hints,
      recording: ["", "https://example.org/a.mp3"],
      "--output": ["", "talk.mp3"],
      "--model": [""],
      "--name": ["", "talk.mp3"],
    },
    together: [
      ...hintsTogether.map((each) => ["there.mp3", "-o", "new/", ...each]),
      ["a.mp3", "b.mp3", "-o", "all.txt"],
      ["a.mp3", "--json", "--format", "srt"],
      ["-", "-"],
    ],
  },
  "models list": { valid: [], values: settings },
  "models pull": {
    valid: ["whisper-small"],
    values: { ...settings, id: [""], "--mirror": ["ftp://example.org", "two words"] },
  },
  "models import": {
    valid: ["model.bin"],
    values: { ...settings, path: [""], "--name": ["", "Model", "two words", "a/b"] },
  },
  "models verify": { valid: [], values: { ...settings, id: [""] } },
  "models use": { valid: ["whisper-small"], values: { ...settings, id: [""] } },
  "models check": {
    valid: ["whisper-small", "there.mp3", "--transcript", "there.txt"],
    values: {
      ...settings,
      model: [""],
      recording: ["", "https://example.org/a.mp3"],
      "--transcript": [""],
      "--language": hints["--language"],
    },
  },
  "models remove": { valid: ["whisper-small"], values: { ...settings, id: [""] } },
  "models bundle": {
    valid: ["whisper-small", "-o", "bundle"],
    values: { ...settings, id: [""], "--mirror": ["ftp://example.org"], "--output": [""] },
  },
  "accounts create": { valid: ["acme"], values: { ...settings, ...changesOfAccount, name: names } },
  "accounts list": { valid: [], values: settings },
  "accounts set": {
    valid: ["acme", "--priority", "1"],
    values: { ...settings, ...changesOfAccount, account: names },
    together: [["acme"], ["acme", "--voices", "off"], ["acme", "--yes"], ["acme", "--priority", "1", "--yes"]],
  },
  "accounts limits": {
    valid: ["acme"],
    values: {
      ...settings,
      account: names,
      "--audio-minutes-per-day": limits,
      "--creates-per-day": limits,
      "--creates-per-hour": limits,
      "--recordings-per-account": limits,
      "--requests-per-minute": limits,
    },
  },
  "accounts vocabulary": {
    valid: ["acme"],
    values: { ...settings, account: names, text: ["", "…", "a\u0007b", "x".repeat(5000)], "--file": [""] },
    together: [
      ["acme", "Ada", "--clear"],
      ["acme", "Ada", "--file", "-"],
      ["acme", "--clear", "--file", "-"],
    ],
  },
  "accounts delete": { valid: ["acme", "--yes"], values: { ...settings, account: names }, together: [["acme"]] },
  "workspaces create": {
    valid: ["sales", "--account", "acme"],
    values: { ...settings, name: names, "--account": names },
  },
  "workspaces list": { valid: ["--account", "acme"], values: { ...settings, "--account": names } },
  "workspaces delete": {
    valid: ["sales", "--account", "acme"],
    values: { ...settings, name: names, "--account": names },
  },
  "users create": {
    valid: ["anna@example.org", "--role", "member", "--account", "acme"],
    values: { ...settings, ...users, email: ["", "anna", "anna @example.org", "@"] },
    together: [
      ["anna@example.org"],
      ["anna@example.org", "--role", "member"],
      ["anna@example.org", "--role", "operator", "--account", "acme"],
      ["anna@example.org", "--role", "reader", "--account", "acme", "--all-accounts"],
    ],
  },
  "users list": { valid: [], values: settings },
  "users show": userChange,
  "users set": {
    valid: ["anna@example.org", "--role", "member"],
    values: { ...settings, ...users, user: ["", " "] },
    together: [
      ["anna@example.org"],
      ["anna@example.org", "--role", "operator", "--account", "acme"],
      ["anna@example.org", "--account", "acme", "--all-accounts"],
    ],
  },
  "users password": userChange,
  "users disable": userChange,
  "users enable": userChange,
  "users delete": { ...userChange, valid: ["anna@example.org", "--yes"], together: [["anna@example.org"]] },
  "keys create": {
    valid: ["--account", "acme"],
    values: {
      ...settings,
      "--account": names,
      "--name": ["", " ", "\u200b", "a\nb", "a\u001bb", "x".repeat(101)],
      "--scopes": ["", "all", "transcriptions:read,", "transcriptions:read,admin"],
      "--workspace": names,
      "--expires": [...times, "forever", "2020-01-01", "0d"],
    },
  },
  "keys list": { valid: [], values: { ...settings, "--account": names } },
  "keys rotate": {
    valid: [id],
    values: { ...settings, id: ids, "--overlap": ["", "7x", "-1d", "soon", "24", "2026-12-31", "999999999d"] },
  },
  "keys revoke": { valid: [id], values: { ...settings, id: ids } },
  "voices list": { valid: ["--account", "acme"], values: { ...settings, "--account": names } },
  "voices rename": {
    valid: [id, "Ada"],
    values: { ...settings, id: ids, name: ["", " ", "a\u0007b", "x".repeat(101)] },
  },
  "voices delete": { valid: [id], values: { ...settings, id: ids } },
  "recordings list": {
    valid: [],
    values: { ...settings, "--account": names, "--status": ["", "foo", "queued,,failed"], "--limit": numbers },
  },
  "recordings show": recordingChange,
  "recordings process": {
    valid: [id],
    values: { ...recordingChange.values, "--model": ["", " "], "--language": ["", "english", "e", "1"] },
  },
  "recordings hold": recordingChange,
  "recordings release": recordingChange,
  "recordings cancel": recordingChange,
  "recordings delete": recordingChange,
  "folders add": {
    valid: ["/srv/in", "--account", "acme"],
    values: {
      ...settings,
      path: paths,
      "--account": names,
      "--workspace": names.slice(1),
      "--format": ["", "mp3", "txt,", "txt,mp3"],
      "--language": hints["--language"].slice(1),
      "--to": paths.slice(1),
      "--files": ["", "x", "0", "-1", "1.5"],
    },
  },
  "folders list": { valid: [], values: settings },
  "folders remove": { valid: ["/srv/in"], values: { ...settings, path: paths } },
  "console link": { valid: [], values: { ...settings, "--server": links } },
  "console password": { valid: [], values: settings },
  "console sign-out": { valid: [], values: settings },
  audit: { valid: [], values: { ...settings, "--limit": numbers } },
  backup: { valid: [], values: { ...settings, file: [""] } },
  restore: { valid: ["backup.tar"], values: { ...settings, file: [""] } },
  // It reports a settings file that can't be read as a problem.
  doctor: { valid: [], values: { ...serving, "--config": "any text" } },
  bench: {
    valid: [],
    values: { ...settings, "--seconds": [...numbers, "3601"] },
    together: [["--tune", "--seconds", "5"]],
  },
  verify: { valid: ["transcribe"], values: { ...settings, file: [""], "--key": [""], "--sums": [""] } },
  completion: { valid: ["bash"], values: {}, together: [["tcsh"]] },
  version: { valid: [], values: {} },
  // It prints the notices of the program whatever the settings are.
  licenses: { valid: [], values: { ...settings, "--config": "any text" }, together: [["--json", "--sbom"]] },
};
