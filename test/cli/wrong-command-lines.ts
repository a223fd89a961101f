type Values = Readonly<Record<string, readonly string[] | "any text">>;

/** Wrong command lines of one command, in addition to those that follow from its declaration. */
interface WrongCommandLines {
  /** Arguments of a valid command line, operands first. */
  readonly valid: readonly string[];
  /**
   * Wrong values by option or argument, where they are not the common ones. "any text" is wrong only for a reason
   * outside of the command line.
   */
  readonly values?: Values;
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
const paths = ["", "relative/path", "."];

const wrongTags = ["a,,b", "x".repeat(51), "a\u0007b"];

/** Wrong values of options and arguments. A command may have others. */
export const commonValues: Values = {
  "--account": names,
  "--ca": [""],
  "--config": ["/no/such/file.toml"],
  "--data-dir": ["", " "],
  "--every": ["", "0", "-1", "often"],
  "--fleet": ["ftp://10.0.0.5", "two words"],
  "--from": ["http://127.0.0.1:1", "tls://127.0.0.1", "two words"],
  "--host": ["", "two words", "http://127.0.0.1"],
  "--key-file": [""],
  "--language": ["", "english", "e", "1"],
  "--limit": numbers,
  "--log-level": ["", "loud"],
  "--max-speakers": ["", "0", "51", "two"],
  "--min-speakers": ["", "0", "51", "two"],
  "--mirror": ["ftp://example.org", "two words"],
  "--name": ["", "talk.mp3"],
  "--output": ["", "talk.mp3"],
  "--port": ["", "-1", "65536", "http"],
  "--priority": ["", "1.5", "high", "9999999999"],
  "--prompt": ["…", "a\u0007b", "x".repeat(2001)],
  "--server": ["", "localhost", "ftp://example.org", "http://user:secret@example.org", "https://example.org/?a"],
  "--speakers": ["", "0", "51", "two"],
  "--subscription": times,
  "--tag": ["", " ", "a,b", "x".repeat(51), "a\u0007b"],
  "--workspace": names,
  account: names,
  file: [""],
  id: ids,
  name: names,
  path: paths,
  recording: ["", "https://example.org/a.mp3"],
  user: ["", " "],
};

/** Wrong values of the options for the form of a transcript. */
const layoutValues: Values = {
  "--lines": ["", "0", "3", "two"],
  "--media": ["", "a/b.wav", "a\u0007.wav"],
  "--width": ["", "9", "201", "-1", "wide"],
  "--words": ["", "0", "101", "few"],
};

const hintsTogether = [
  ["--speakers", "2", "--min-speakers", "1"],
  ["--min-speakers", "3", "--max-speakers", "2"],
];
const limits = ["", "-1", "1.5", "many"];
const users = { "--name": ["", "a\nb", "x".repeat(201)] };
const model = { id: [""] };

/** Wrong command lines by command. */
export const wrongCommandLines: Readonly<Record<string, WrongCommandLines>> = {
  serve: { valid: [] },
  worker: { valid: ["--fleet", "tls://127.0.0.1:1"], values: { "--machine": "any text" }, together: [[]] },
  "fleet init": {
    valid: ["--directory", "fleet", "--broker", "a.example.org", "--worker", "w1"],
    values: {
      "--directory": [""],
      "--broker": ["", "two words", "tls://a.example.org", "a:4222/x"],
      "--port": ["0", "65536", "nats"],
      "--worker": ["", "two words", "a/b", "broker", "coordinator", "w1"],
      "--pool": ["", "two words", "a/b", "broker", "coordinator", "w1"],
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
  "fleet status": { valid: ["--fleet", "tls://127.0.0.1:1"], together: [[]] },
  "standby follow": { valid: ["--from", "tls://127.0.0.1:1"], together: [[]] },
  "standby init": {
    valid: ["--directory", "standby", "--machine", "a.example.org"],
    values: {
      "--directory": [""],
      "--machine": ["", "two words", "a/b", "tls://a.example.org", "a.example.org:8788"],
      "--renew": ["", "two words"],
    },
    together: [["--directory", "standby"]],
  },
  "standby status": { valid: [], together: [[]] },
  "service install": {
    valid: ["--dry-run"],
    values: {
      "--user": ["", "Anna", "two words", "a/b"],
      "--data-dir": [...paths, "/home/anna", "/srv/../etc", "/srv/two words"],
      "--config": [...paths, "/tmp/a.toml"],
      "--worker": [""],
      "--standby": [""],
      "--root": [""],
    },
    together: [
      ["--from-package", "--worker"],
      ["--from-package", "--standby"],
      ["--worker", "--standby"],
      ["--from-package", "--user", "anna"],
      ["--from-package", "--no-start"],
    ],
  },
  "service uninstall": {
    valid: ["--dry-run"],
    values: { "--root": [""] },
    together: [["--purge"], ["--yes"], ["--yes", "--dry-run"]],
  },
  "service status": { valid: [] },
  quickstart: { valid: ["there.mp3"], together: hintsTogether.map((each) => ["there.mp3", ...each]) },
  "config show": { valid: [] },
  "config check": { valid: [], values: { "--config": "any text" }, together: [["a.toml", "--config", "b.toml"]] },
  "config example": { valid: [] },
  "config docs": { valid: [] },
  submit: {
    valid: ["there.mp3"],
    values: { recording: ["", "http://", "https://a b/"] },
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
  live: {
    valid: ["-"],
    values: {
      "--device": [""],
      "--name": ["", "a\nb", "x".repeat(256)],
      "--sample-rate": [...numbers, "7999", "48001"],
    },
    together: [
      ["there.mp3", "--device"],
      ["there.mp3", "--device", "usb"],
      ["--fast"],
      ["--device", "usb", "--fast"],
      ["--sample-rate", "8000"],
      ["there.mp3", "--encoding", "mulaw"],
    ],
  },
  watch: { valid: [] },
  list: {
    valid: [],
    values: { "--status": ["", "done", "queued,,failed", "Queued"] },
    together: [["--all", "--limit", "5"]],
  },
  get: { valid: [id] },
  cancel: { valid: [id] },
  speakers: {
    valid: [id],
    values: {
      "--name": ["", "A", "Ada", "a=Ada", "ABC=Ada", `A=${"x".repeat(101)}`],
      "--merge": ["", "A", "A=A", "b=a", "A=ABC"],
    },
  },
  tags: {
    valid: [id],
    values: { "--set": wrongTags, "--add": wrongTags, "--remove": wrongTags },
    together: [
      ["--set", "a", "--add", "b"],
      ["--set", "a", "--remove", "b"],
    ],
  },
  search: { valid: ["budget"], values: { words: [""], "--status": ["", "done", "queued,,failed", "Queued"] } },
  export: {
    valid: [id],
    values: layoutValues,
    together: [
      [id, "--format", "txt", "--width", "32"],
      [id, "--format", "srt", "--media", "a.wav"],
      [id, "--format", "lrc", "--speakers", "names"],
      [id, "--format", "json", "--speakers", "none"],
    ],
  },
  delete: { valid: [id], together: [[id, "7"]] },
  run: {
    valid: ["there.mp3"],
    values: { "--model": [""], ...layoutValues },
    together: [
      ["there.mp3", "--width", "32"],
      ["there.mp3", "--format", "csv", "--words", "5"],
      ["there.mp3", "--format", "tsv", "--labels", "letters"],
      ...hintsTogether.map((each) => ["there.mp3", "-o", "new/", ...each]),
      ["a.mp3", "b.mp3", "-o", "all.txt"],
      ["a.mp3", "--json", "--format", "srt"],
      ["-", "-"],
    ],
  },
  "models list": { valid: [] },
  "models pull": { valid: ["whisper-small"], values: model },
  "models import": { valid: ["model.bin"], values: { path: [""], "--name": ["", "Model", "two words", "a/b"] } },
  "models verify": { valid: [], values: model },
  "models use": { valid: ["whisper-small"], values: model },
  "models check": {
    valid: ["whisper-small", "there.mp3", "--transcript", "there.txt"],
    values: { model: [""], "--transcript": [""] },
  },
  "models remove": { valid: ["whisper-small"], values: model },
  "models bundle": { valid: ["whisper-small", "-o", "bundle"], values: { ...model, "--output": [""] } },
  "accounts create": { valid: ["acme"] },
  "accounts list": { valid: [] },
  "accounts set": {
    valid: ["acme", "--priority", "1"],
    together: [["acme"], ["acme", "--voices", "off"], ["acme", "--yes"], ["acme", "--priority", "1", "--yes"]],
  },
  "accounts limits": {
    valid: ["acme"],
    values: {
      "--audio-minutes-per-day": limits,
      "--creates-per-day": limits,
      "--creates-per-hour": limits,
      "--live-sessions-per-account": limits,
      "--recordings-per-account": limits,
      "--requests-per-minute": limits,
    },
  },
  "accounts retention": {
    valid: ["acme"],
    values: { "--audio-days": [...limits, "36501", "7d"], "--completed-days": [...limits, "36501", "forever"] },
  },
  "accounts vocabulary": {
    valid: ["acme"],
    values: { text: ["", "…", "a\u0007b", "x".repeat(5000)], "--file": [""] },
    together: [
      ["acme", "Ada", "--clear"],
      ["acme", "Ada", "--file", "-"],
      ["acme", "--clear", "--file", "-"],
    ],
  },
  "accounts delete": { valid: ["acme", "--yes"], together: [["acme"]] },
  "workspaces create": { valid: ["sales", "--account", "acme"] },
  "workspaces list": { valid: ["--account", "acme"] },
  "workspaces delete": { valid: ["sales", "--account", "acme"] },
  "users create": {
    valid: ["anna@example.org", "--role", "member", "--account", "acme"],
    values: { ...users, email: ["", "anna", "anna @example.org", "@"] },
    together: [
      ["anna@example.org"],
      ["anna@example.org", "--role", "member"],
      ["anna@example.org", "--role", "operator", "--account", "acme"],
      ["anna@example.org", "--role", "reader", "--account", "acme", "--all-accounts"],
    ],
  },
  "users list": { valid: [] },
  "users show": { valid: ["anna@example.org"] },
  "users set": {
    valid: ["anna@example.org", "--role", "member"],
    values: users,
    together: [
      ["anna@example.org"],
      ["anna@example.org", "--role", "operator", "--account", "acme"],
      ["anna@example.org", "--account", "acme", "--all-accounts"],
    ],
  },
  "users password": { valid: ["anna@example.org"] },
  "users disable": { valid: ["anna@example.org"] },
  "users enable": { valid: ["anna@example.org"] },
  "users delete": { valid: ["anna@example.org", "--yes"], together: [["anna@example.org"]] },
  "keys create": {
    valid: ["--account", "acme"],
    values: {
      "--name": ["", " ", "\u200b", "a\nb", "a\u001bb", "x".repeat(101)],
      "--scopes": ["", "all", "transcriptions:read,", "transcriptions:read,admin"],
      "--expires": [...times, "forever", "2020-01-01", "0d"],
    },
  },
  "keys list": { valid: [] },
  "keys rotate": { valid: [id], values: { "--overlap": ["", "7x", "-1d", "soon", "24", "2026-12-31", "999999999d"] } },
  "keys revoke": { valid: [id] },
  "replacements add": {
    valid: ["jon", "John", "--account", "acme"],
    values: { words: ["", "…", "+1", "x".repeat(101)], text: ["", "\u200b", "x".repeat(201)] },
  },
  "replacements list": { valid: ["--account", "acme"] },
  "replacements remove": { valid: [id] },
  "replacements import": { valid: ["list.txt", "--account", "acme"], values: { file: [""] } },
  "webhooks add": {
    valid: ["https://app.example.org/hook", "--account", "acme"],
    values: {
      url: ["", "app.example.org", "ftp://app.example.org", "https://user:secret@app.example.org", "https:///hook"],
      "--events": ["", "all", "recording.completed,", "recording.completed,ping"],
    },
  },
  "webhooks list": { valid: [] },
  "webhooks show": { valid: [id] },
  "webhooks test": { valid: [id] },
  "webhooks rotate": { valid: [id], values: { "--overlap": ["", "7x", "-1d", "soon", "24", "2026-12-31"] } },
  "webhooks pause": { valid: [id] },
  "webhooks resume": { valid: [id] },
  "webhooks remove": { valid: [id] },
  "voices list": { valid: ["--account", "acme"] },
  "voices rename": { valid: [id, "Ada"], values: { name: ["", " ", "a\u0007b", "x".repeat(101)] } },
  "voices delete": { valid: [id] },
  "recordings list": { valid: [], values: { "--status": ["", "foo", "queued,,failed"] } },
  "recordings show": { valid: [id] },
  "recordings process": { valid: [id], values: { "--model": ["", " "], "--language": ["", "english", "e", "1"] } },
  "recordings hold": { valid: [id] },
  "recordings release": { valid: [id] },
  "recordings cancel": { valid: [id] },
  "recordings delete": { valid: [id] },
  "folders add": {
    valid: ["/srv/in", "--account", "acme"],
    values: {
      "--workspace": names.slice(1),
      "--format": ["", "mp3", "txt,", "txt,mp3"],
      "--language": ["english", "e", "1"],
      "--to": paths.slice(1),
      "--files": ["", "x", "0", "-1", "1.5"],
    },
  },
  "folders list": { valid: [] },
  "folders remove": { valid: ["/srv/in"] },
  "console link": { valid: [] },
  "console password": { valid: [] },
  "console sign-out": { valid: [] },
  audit: { valid: [] },
  backup: { valid: [] },
  restore: { valid: ["backup.tar"] },
  promote: { valid: [] },
  // It reports a settings file that can't be read as a problem.
  doctor: { valid: [], values: { "--config": "any text" } },
  bench: { valid: [], values: { "--seconds": [...numbers, "3601"] }, together: [["--tune", "--seconds", "5"]] },
  verify: { valid: ["transcribe"], values: { "--key": [""], "--sums": [""] } },
  completion: { valid: ["bash"], together: [["tcsh"]] },
  version: { valid: [] },
  // It prints the notices of the program whatever the settings are.
  licenses: { valid: [], values: { "--config": "any text" }, together: [["--json", "--sbom"]] },
};
