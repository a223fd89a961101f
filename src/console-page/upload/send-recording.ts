import type { RecordingDetail } from "../../console/contract.ts";
import { queryOf } from "../route.ts";
import { dataUrl, ownHeaders, Refusal, refusalOf } from "../server.ts";
import { strings } from "../strings.ts";

/** What is to be sent: files, or a link that is yet to be given. */
export type Choice = readonly File[] | "link";

export interface Sending {
  /** A file, or the link to one, which the server fetches. */
  readonly source: File | string;
  readonly account: string;
  /** Empty: none. */
  readonly workspace: string;
  /** Empty: the speech decides. */
  readonly language: string;
}

/**
 * Sends a recording and tells how much of it has gone out, which `fetch` does not.
 * @param onProgress called with a share from 0 to 1
 * @throws {Refusal} with why it was not taken; DOMException where the signal ended it
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
