import { useCallback, useState } from "preact/hooks";
import type { RecordingDetail } from "../../console/contract.ts";
import { announce } from "../announce.tsx";
import { wordsFor } from "../parts/index.ts";
import { Refusal, troubleOf } from "../server.ts";
import { strings } from "../strings.ts";
import { type Sending, sendRecording } from "./send-recording.ts";

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
