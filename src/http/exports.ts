import { createHash } from "node:crypto";
import { Elysia } from "elysia";
import type { ExportFormat } from "../exports/index.ts";
import { programVersion } from "../program/index.ts";
import type { Recording } from "../recordings/index.ts";
import { requireScope } from "./access.ts";
import { exportQuery, readQuery } from "./query.ts";
import { callerOf } from "./request-context.ts";
import { requireCompleted, requireRecording, type TranscriptionServices } from "./transcriptions.ts";

/** GET /transcriptions/{id}/export: the transcript as a file. */
export function exportRoutes({ recordings, exports }: TranscriptionServices) {
  return new Elysia({ name: "exports" }).get("/transcriptions/:id/export", ({ request, params }) => {
    requireScope(request, "transcriptions:read");
    const recording = requireRecording(recordings, request, params.id);
    const { format } = readQuery(request, exportQuery);
    requireCompleted(recording);
    const headers = { ETag: entityTag(recording, format), "Cache-Control": "private, no-cache" };
    if (matches(request.headers.get("if-none-match"), headers.ETag))
      return new Response(null, { status: 304, headers });
    return exports.answer({ request, owner: callerOf(request).account.id, recording, format, headers });
  });
}

/**
 * Returns the ETag of an export without generating the file: the same recording gives the same bytes in the same
 * program version.
 */
function entityTag(recording: Recording, format: ExportFormat): string {
  const identity = JSON.stringify([recording.id, recording.updatedAt, format, programVersion]);
  return `"${createHash("sha256").update(identity).digest("base64url").slice(0, 27)}"`;
}

/** Evaluates `If-None-Match` (RFC 9110, 13.1.2): weak comparison with each tag of a list. */
function matches(header: string | null, tag: string): boolean {
  if (header === null) return false;
  return header.trim() === "*" || header.split(",").some((each) => each.trim().replace(/^W\//, "") === tag);
}
