import { Value } from "@sinclair/typebox/value";
import { dieWithParent } from "../program/index.ts";
import { codeOf, messageOf } from "../text/index.ts";
import { type FileCallName, type FileCalls, runFileCall } from "./file-calls.ts";
import { type FileReply, type FileRequest, fileRequestSchema, started } from "./file-protocol.ts";

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
