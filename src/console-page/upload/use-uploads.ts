import { useCallback, useState } from "preact/hooks";
import type { RecordingDetail } from "../../console/contract.ts";
import { announce } from "../announce.tsx";
import { wordsFor } from "../parts/index.ts";
import { queryOf } from "../route.ts";
import { dataUrl, ownHeaders, Refusal, refusalOf, troubleOf } from "../server.ts";
import { strings } from "../strings.ts";

export interface Upload {
  readonly number: number;
  readonly name: string;
  /** Share of the bytes sent, 0 to 1. */
  readonly share: number;
  /** The recording that the server created. */
  readonly recording: RecordingDetail | null;
  /** Reason why the upload failed. */
  readonly trouble: string | null;
  /** Retries the upload; null if a retry would fail in the same way. */
  readonly again: (() => void) | null;
  readonly cancel: () => void;
}

const unsent = { share: 0, recording: null, trouble: null, again: null };
/** Error codes that a later retry may avoid: when other recordings have ended or some time has passed. */
const passing: readonly string[] = ["concurrency_limit", "rate_limited"];

let count = 0;

/** Manages the uploads of this page, newest last. They run one at a time: in parallel, none would finish sooner. */
export function useUploads() {
  const [uploads, setUploads] = useState<readonly Upload[]>([]);
  const [queue] = useState(() => ({ last: Promise.resolve() }));
  const change = useCallback((number: number, part: Partial<Upload>) => {
    setUploads((all) => all.map((upload) => (upload.number === number ? { ...upload, ...part } : upload)));
  }, []);
  const drop = useCallback((number: number) => {
    setUploads((all) => all.filter((upload) => upload.number !== number));
  }, []);

  const send = useCallback(
    (sending: Sending) => {
      const number = ++count;
      const ended = new AbortController();
      const cancel = () => {
        ended.abort();
        drop(number);
      };
      const name = typeof sending.source === "string" ? sending.source : sending.source.name;
      const begin = () => {
        change(number, unsent);
        queue.last = queue.last.then(async () => {
          if (ended.signal.aborted) return;
          try {
            const recording = await sendRecording(sending, (share) => change(number, { share }), ended.signal);
            change(number, { recording, share: 1 });
            announce(strings.upload.announced(name, wordsFor(recording)));
          } catch (error) {
            if (ended.signal.aborted) return;
            const trouble = troubleOf(error);
            const isForNow = error instanceof Refusal && (error.mayPass || passing.includes(error.code));
            change(number, { trouble, again: isForNow ? begin : null });
            announce(strings.upload.announced(name, trouble));
          }
        });
      };
      setUploads((all) => [...all, { number, name, cancel, ...unsent }]);
      begin();
    },
    [change, drop, queue],
  );
  return { uploads, send, drop };
}

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
