import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { run } from "../../harness/processes.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { Editor, enterSaid } from "../support/editor.ts";
import { ApiServer } from "../support/http.ts";
import { installPythonSdk, installTypescriptSdk, writeScript } from "../support/sdk.ts";
import { blocksOf, pageNamed } from "./pages.ts";

setDefaultTimeout(60_000);

const folder = temporaryDirectory();
const server = new ApiServer();
afterAll(() => {
  server[Symbol.dispose]();
  folder[Symbol.dispose]();
});
const runtimes = [...(await installTypescriptSdk(folder.path)), ...(await installPythonSdk(folder.path))];

/** What the page expects to be there. */
const preludes = {
  ts: `import { ApiError, Client } from "transcribe-sdk";
    const client = new Client({ baseUrl: process.env.API, key: process.env.KEY });
    const id = process.env.id;`,
  python: `import os
from transcribe_sdk import Client
client = Client(os.environ["API"], os.environ["KEY"])
id = os.environ["id"]
`,
};

const examples = (language: string) =>
  blocksOf(pageNamed("docs/editing.md")).filter((block) => block.run && block.language === language);

/** Enters a transcript, and returns what a program needs to know of it. */
function enter(account: string) {
  const editor = new Editor(server, account);
  const texts = ["Good mourning.", "Yes.", "We met.", "No.", "In June.", "So.", "Well.", "Hm."];
  const id = enterSaid(server, editor.client.accountId, texts);
  const environment = {
    PATH: process.env.PATH ?? "",
    API: `${server.origin}/api/public/v1`,
    KEY: editor.client.key,
    id,
  };
  return { id, editor, environment };
}

describe("the examples of docs/editing.md", () => {
  for (const runtime of runtimes) {
    test(`correct a transcript as they are printed, in ${runtime.name}`, async () => {
      const { id, editor, environment } = enter(runtime.name);
      const [example] = examples(runtime.language);
      const text = preludes[runtime.language] + (example?.text ?? "");
      const script = writeScript(runtime, folder.path, `editing-${runtime.name}`, text);
      const result = await run([runtime.program, script], {
        cwd: folder.path,
        env: { ...environment, ...runtime.environment },
      });
      expect(result).toMatchObject({ exitCode: 0, stderr: "" });
      expect((await editor.client.segments(id))[0]?.text).toBe("Good morning.");
    });
  }

  test.skipIf(["curl", "jq"].some((program) => Bun.which(program) === null))(
    "correct a transcript as they are printed, in a shell",
    async () => {
      const { id, editor, environment } = enter("shell");
      for (const { text } of examples("sh")) {
        const script = join(folder.path, "example.sh");
        await Bun.write(script, text);
        expect(await run(["sh", "-e", script], { cwd: folder.path, env: environment })).toMatchObject({
          exitCode: 0,
          stderr: "",
        });
      }
      const after = await editor.client.segments(id);
      expect([after.length, after[0]?.text]).toEqual([7, "Good morning."]);
    },
  );
});
