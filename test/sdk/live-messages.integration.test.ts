import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { Kind, type TSchema, Type } from "@sinclair/typebox";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import type { LiveUpdate } from "../../sdk/typescript/src/index.ts";
import { parseMessage, type ServerMessage } from "../../sdk/typescript/src/live/messages.ts";
import { liveMessages } from "../../src/api-contract/index.ts";
import { askPython } from "../../tools/shared/python.ts";
import { installPythonSdk } from "../support/sdk.ts";

/** Installing, on a machine that also runs a build. */
setDefaultTimeout(180_000);

/** Checks of the compiler: the client accepts every message of the server, and changes what the server lets it change. */
type Accepted = liveMessages.ServerMessage extends ServerMessage ? true : never;
type Changes = Exclude<keyof Extract<liveMessages.ClientMessage, { type: "update" }>, "type">;
type Sent = [keyof LiveUpdate, Changes] extends [Changes, keyof LiveUpdate] ? true : never;
const isTyped: readonly [Accepted, Sent] = [true, true];

type Sample = { readonly type: string } & Record<string, unknown>;

/** Returns a value of a schema. */
function sampleOf(schema: TSchema): unknown {
  switch (schema[Kind]) {
    case "Object":
      return Object.fromEntries(
        Object.entries<TSchema>(schema.properties).map(([name, property]) => [name, sampleOf(property)]),
      );
    case "Array":
      return [sampleOf(schema.items)];
    case "Union":
      return sampleOf(schema.anyOf[0]);
    case "Literal":
      return schema.const;
    case "Boolean":
      return true;
    case "String":
      return "text";
    default:
      return 1;
  }
}

const samples = liveMessages.serverMessageSchema.anyOf.map((schema) => sampleOf(schema) as Sample);
const folder = temporaryDirectory();
afterAll(() => folder[Symbol.dispose]());
const [python] = await installPythonSdk(folder.path);

/** A script that answers which of the messages the Python client accepts, and which fields its types have. */
const script = join(folder.path, "check.py");
await Bun.write(
  script,
  `import json, sys, typing
from transcribe_sdk import live_types
from transcribe_sdk._live_connection import FIELDS, _is_valid
messages = json.load(sys.stdin)
kinds = [live_types.SessionMessage, *typing.get_args(live_types.LiveEvent)]
fields = {}
for kind in kinds:
    hints = typing.get_type_hints(kind)
    for name in typing.get_args(hints["type"]):
        fields.setdefault(name, sorted(hints))
accepted = [message["type"] in FIELDS and _is_valid(message) for message in messages]
json.dump({"accepted": accepted, "fields": fields}, sys.stdout)
`,
);

async function byPython(messages: readonly object[]) {
  const schema = Type.Object({ accepted: Type.Array(Type.Boolean()), fields: Type.Record(Type.String(), Type.Any()) });
  return await askPython(script, python?.environment.PYTHONPATH ?? "", messages, schema);
}

const lacking = samples.flatMap((sample) =>
  Object.keys(sample)
    .filter((name) => name !== "type")
    .map((name) => Object.fromEntries(Object.entries(sample).filter(([key]) => key !== name))),
);

describe("the messages of live sessions", () => {
  test("are accepted by the TypeScript client as the server describes them, and refused without a field", () => {
    expect(isTyped).toEqual([true, true]);
    for (const sample of samples) expect(parseMessage(JSON.stringify(sample)) as unknown).toEqual(sample);
    for (const message of lacking) expect(parseMessage(JSON.stringify(message))).toBe("bad");
  });

  test.each([["{"], ["null"], ["7"], ['{"kind":"final"}'], [new Uint8Array(2)]])("are not %p", (data) => {
    expect(parseMessage(data)).toBe("bad");
  });

  test.if(python !== undefined)(
    "are accepted by the Python client as the server describes them, and refused without a field",
    async () => {
      const { accepted, fields } = await byPython([...samples, ...lacking]);
      expect(accepted).toEqual([...samples.map(() => true), ...lacking.map(() => false)]);
      const described = samples.map((sample) => [sample.type, Object.keys(sample).sort()]);
      // The event is made by the client.
      expect(fields).toEqual({ ...Object.fromEntries(described), disconnected: ["type"] });
    },
  );

  test.if(python !== undefined)("need the package websockets in Python, which an error names", async () => {
    const path = join(folder.path, "without.py");
    await Bun.write(
      path,
      `import json, sys, transcribe_sdk
json.load(sys.stdin)
sys.modules["websockets.sync.client"] = None
try:
    transcribe_sdk.Client("http://127.0.0.1:2", "trs_key").live()
except ImportError as error:
    json.dump(str(error), sys.stdout)
`,
    );
    const said = await askPython(path, python?.environment.PYTHONPATH ?? "", {}, Type.String());
    expect(said).toContain("pip install 'websockets>=15'");
  });
});
