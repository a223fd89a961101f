import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { dieWithParent } from "../program/index.ts";
import { codeOf, messageOf } from "../text/index.ts";
import { type FileCallName, type FileCalls, fileCalls, runFileCall } from "./file-calls.ts";

const names = Object.keys(fileCalls) as FileCallName[];

/** A call that the server sends to a process for files. */
const fileRequestSchema = Type.Object({
  id: Type.Integer(),
  name: Type.Unsafe<FileCallName>({ ...Type.Union(names.map((name) => Type.Literal(name))) }),
  args: Type.Array(Type.Unknown()),
});
export type FileRequest = Static<typeof fileRequestSchema>;

/** The answer of the process: the value that the call returned, or its error. */
export const fileReplySchema = Type.Object({
  id: Type.Integer(),
  value: Type.Optional(Type.Unknown()),
  error: Type.Optional(Type.Object({ code: Type.String(), message: Type.String() })),
});
type FileReply = Static<typeof fileReplySchema>;

/** The first message of the process. No call has this id. */
const started: FileReply = { id: 0 };

/** Runs calls of the file system for the server, one after another, until the server exits or kills this process. */
export function runFileProcess(): void {
  process.on("disconnect", () => process.exit(0));
  dieWithParent();
  // A terminal signals the whole process group. The server kills this process when it stops.
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => {});
  process.on("message", (message: unknown) => {
    if (Value.Check(fileRequestSchema, message)) process.send?.(replyTo(message));
  });
  process.send?.(started);
}

function replyTo({ id, name, args }: FileRequest): FileReply {
  try {
    // The server is the only sender, and FileProcess.call has checked the types.
    return { id, value: runFileCall(name, args as Parameters<FileCalls[FileCallName]>) };
  } catch (error) {
    return { id, error: { code: codeOf(error), message: messageOf(error) } };
  }
}
