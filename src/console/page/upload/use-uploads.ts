import { useCallback, useState } from "preact/hooks";
import type { RecordingDetail } from "../../contract/index.ts";
import { announce } from "../announce.tsx";
import { statusText } from "../parts/index.ts";
import { CONSOLE_HEADERS, messageOf, RequestError, requestErrorOf, urlOf } from "../server.ts";
import { strings } from "../strings.ts";

/** The chosen files, or a link that the user has not entered yet. */
export type Choice = readonly File[] | "link";

export interface UploadRequest {
  /** A file, or a link to a file that the server fetches. */
  readonly source: File | string;
  readonly account: string;
  /** Id of the workspace; empty: none. */
  readonly workspace: string;
  /** Text parts of the create's form: language and hints; empty ones are not sent. */
  readonly parts: Readonly<Record<string, string>>;
}

export interface Upload {
  readonly number: number;
  readonly name: string;
  /** Share of the bytes sent, 0 to 1. */
  readonly share: number;
  /** The recording that the server created. */
  readonly recording: RecordingDetail | null;
  /** Reason why the upload failed. */
  readonly problem: string | null;
  /** Retries the upload; null if a retry would fail in the same way. */
  readonly retry: (() => void) | null;
  /** Cancels the upload if it is in progress, and removes it from the list. */
  readonly remove: () => void;
}

const notStarted = { share: 0, recording: null, problem: null, retry: null };
/** Error codes that a later retry may avoid: when other recordings have finished or some time has passed. */
const temporaryCodes: readonly string[] = ["concurrency_limit", "rate_limited"];

let count = 0;

/** Manages the uploads of this page, newest last. They run one at a time: in parallel, none would finish sooner. */
export function useUploads() {
  const [uploads, setUploads] = useState<readonly Upload[]>([]);
  const [queue] = useState(() => ({ last: Promise.resolve() }));
  const send = useCallback(
    (sent: UploadRequest) => {
      const number = ++count;
      const name = typeof sent.source === "string" ? sent.source : sent.source.name;
      const aborted = new AbortController();
      const change = (part: Partial<Upload>) =>
        setUploads((all) => all.map((upload) => (upload.number === number ? { ...upload, ...part } : upload)));
      const remove = () => {
        aborted.abort();
        setUploads((all) => all.filter((upload) => upload.number !== number));
      };
      const start = () => {
        change(notStarted);
        queue.last = queue.last.then(async () => {
          if (aborted.signal.aborted) return;
          try {
            const recording = await sendRecording(sent, (share) => change({ share }), aborted.signal);
            change({ recording, share: 1 });
            announce(strings.upload.announced(name, statusText(recording)));
          } catch (error) {
            if (aborted.signal.aborted) return;
            const problem = messageOf(error);
            const canRetry =
              error instanceof RequestError && (error.isTemporary || temporaryCodes.includes(error.code));
            change({ problem, retry: canRetry ? start : null });
            announce(strings.upload.announced(name, problem));
          }
        });
      };
      setUploads((all) => [...all, { number, name, remove, ...notStarted }]);
      start();
    },
    [queue],
  );
  return { uploads, send };
}

/**
 * Uploads a recording and reports the upload progress, which `fetch` cannot do.
 * @param onProgress called with the share sent, from 0 to 1
 * @throws {RequestError} with the reason of the refusal; DOMException if the signal aborted the upload
 */
function sendRecording(
  { source, account, workspace, parts }: UploadRequest,
  onProgress: (share: number) => void,
  signal: AbortSignal,
): Promise<RecordingDetail> {
  const form = new FormData();
  for (const [name, text] of Object.entries(parts)) if (text !== "") form.append(name, text);
  if (typeof source === "string") form.append("url", source);
  else form.append("file", source, source.name);
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("POST", urlOf("createRecording", { query: { account, workspace: workspace || null } }));
    for (const [name, value] of Object.entries(CONSOLE_HEADERS)) request.setRequestHeader(name, value);
    request.upload.onprogress = ({ loaded, total }) => onProgress(total > 0 ? loaded / total : 0);
    request.onload = () => {
      if (request.status === 201) resolve(JSON.parse(request.responseText));
      else reject(requestErrorOf(request.status, request.responseText));
    };
    request.onerror = () => reject(new RequestError(0, "unreachable", strings.upload.cut));
    request.onabort = () => reject(signal.reason);
    signal.addEventListener("abort", () => request.abort());
    request.send(form);
  });
}
