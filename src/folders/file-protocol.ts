import { type Static, Type } from "@sinclair/typebox";
import { type FileCallName, fileCalls } from "./file-calls.ts";

const names = Object.keys(fileCalls) as FileCallName[];

/** A call that the server sends to a process for files. */
export const fileRequestSchema = Type.Object({
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
export type FileReply = Static<typeof fileReplySchema>;

/** The first message of the process. No call has this id. */
export const started: FileReply = { id: 0 };
