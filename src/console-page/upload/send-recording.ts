import type { RecordingDetail } from "../../console/contract.ts";
import { queryOf } from "../route.ts";
import { dataUrl, ownHeaders, Refusal, refusalOf } from "../server.ts";
import { strings } from "../strings.ts";

/** The chosen files, or a link that the user has not entered yet. */
export type Choice = readonly File[] | "link";

export interface Sending {
  /** A file, or a link to a file that the server fetches. */
  readonly source: File | string;
  readonly account: string;
  /** Id of the workspace; empty: none. */
  readonly workspace: string;
  /** Language code; empty: the server detects the language. */
  readonly language: string;
}

/**
 * Uploads a recording and reports the upload progress, which `fetch` cannot do.
 * @param onProgress called with the share sent, from 0 to 1
 * @throws {Refusal} with the reason of the refusal; DOMException if the signal aborted the upload
 */
export function sendRecording(
  { source, account, workspace, language }: Sending,
  onProgress: (share: number) => void,
  signal: AbortSignal,
): Promise<RecordingDetail> {
  const form = new FormData();
  if (language !== "") form.append("language", language);
  if (typeof source === "string") form.append("url", source);
  else form.append("file", source, source.name);
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("POST", dataUrl(`recordings${queryOf({ account, workspace })}`));
    for (const [name, value] of Object.entries(ownHeaders)) request.setRequestHeader(name, value);
    request.upload.onprogress = ({ loaded, total }) => onProgress(total > 0 ? loaded / total : 0);
    request.onload = () => {
      if (request.status === 201) resolve(JSON.parse(request.responseText));
      else reject(refusalOf(request.status, request.responseText));
    };
    request.onerror = () => reject(new Refusal(0, "unreachable", strings.upload.cut));
    request.onabort = () => reject(signal.reason);
    signal.addEventListener("abort", () => request.abort());
    request.send(form);
  });
}
