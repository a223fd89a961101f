import { beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { resultOf } from "../../../harness/processes.ts";
import { runCli } from "../../../harness/server.ts";
import { temporaryDirectory } from "../../../harness/temporary-directory.ts";

/** Words of a command line, the last one at the cursor, with offers that are required and forbidden. */
const cases: { words: string[]; offers: string[]; never: string[] }[] = [
  { words: ["su"], offers: ["submit"], never: ["serve", "__worker"] },
  { words: ["keys", ""], offers: ["create", "list", "rotate", "revoke"], never: ["submit", "hold"] },
  { words: ["keys", "create", "--e"], offers: ["--expires"], never: ["--every"] },
  { words: ["submit", "--format", ""], offers: ["txt", "pdf", "json", "textgrid"], never: ["--wait", "mp3"] },
  { words: ["submit", "--wait", "talk.mp3", "--la"], offers: ["--language"], never: ["--limit"] },
  { words: ["list", "--status", ""], offers: ["queued", "completed"], never: ["--json"] },
  { words: ["recordings", "list", "--status", "q"], offers: ["queued"], never: ["failed"] },
  { words: ["serve", "--log-level", ""], offers: ["debug", "silent"], never: ["list"] },
  { words: ["submit", "--every", ""], offers: [], never: ["submit", "recording.mp3"] },
  { words: ["submit", "rec"], offers: ["recording.mp3"], never: ["submit"] },
  { words: ["run", "--language", "de", "-o", "rec"], offers: ["recording.mp3"], never: [] },
  { words: ["get", "rec"], offers: [], never: ["recording.mp3"] },
  { words: ["completion", ""], offers: ["bash", "zsh", "fish"], never: ["serve"] },
];

/** Commands that print the offers of a shell, one word per line. */
const shells: Record<string, (script: string, words: string[]) => string[]> = {
  bash: (script, words) => [
    ...["bash", "--norc", "-c"],
    `source "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _transcribe; printf '%s\\n' "\${COMPREPLY[@]}"`,
    ...[script, "transcribe", ...words],
  ],
  // The functions of the completion system need a terminal; these replace the ones that receive the words.
  zsh: (script, words) => [
    ...["zsh", "-f", "-c"],
    `compdef() { :; }; _message() { :; }
    compadd() { shift; print -rl -- "\${(M)@:#$prefix*}"; }
    _describe() { for item in "\${(@P)4}"; do [[ $item != $prefix* ]] || print -r -- "\${item%%:*}"; done }
    _files() { print -rl -- $prefix*(N); }
    source "$1"; shift; words=("$@"); CURRENT=$#; prefix=$words[-1]; _transcribe`,
    ...["zsh", script, "transcribe", ...words],
  ],
  fish: (script, words) => [
    ...["fish", "--no-config", "-c", `source $argv[1]; complete -C $argv[2] | string replace -r '\\t.*' ''`],
    ...[script, ["transcribe", ...words].join(" ")],
  ],
};

describe.each(Object.keys(shells))("completion in %s", (shell) => {
  const installed = Bun.which(shell) !== null;
  if (!installed) console.warn(`SKIPPED: completion in ${shell}: it is not installed`);
  let script = "";
  beforeAll(async () => {
    const { exitCode, stdout } = await runCli(["completion", shell]);
    expect(exitCode).toBe(0);
    script = stdout;
  });

  test.if(installed).each(cases)("after $words", async ({ words, offers, never }) => {
    using directory = temporaryDirectory();
    const path = join(directory.path, "script");
    await Bun.write(path, script);
    await Bun.write(join(directory.path, "recording.mp3"), "");
    const command = shells[shell]?.(path, words) ?? [];
    const io = { stdin: "ignore", stdout: "pipe", stderr: "pipe" } as const;
    const { stdout, stderr } = await resultOf(Bun.spawn(command, { cwd: directory.path, ...io }));
    expect(stderr).toBe("");
    const offered = stdout.split("\n").filter((line) => line !== "");
    expect(offered).toEqual(expect.arrayContaining(offers));
    expect(offered.filter((word) => never.includes(word))).toEqual([]);
    if (offers.length === 0) expect(offered).toEqual([]);
  });
});

test("an unknown shell is refused with a list of the known ones", async () => {
  const { exitCode, stdout, stderr } = await runCli(["completion", "powershell"]);
  expect([exitCode, stdout]).toEqual([2, ""]);
  expect(stderr).toContain("bash, zsh, fish");
});
