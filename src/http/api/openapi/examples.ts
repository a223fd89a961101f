import type { SegmentResource, TranscriptionResource } from "../../../api-contract/index.ts";

/** Example of a recording right after its create. */
export const queuedExample: TranscriptionResource = {
  id: "019aa5a3-0c7b-7c41-9f1e-2f6a0c1d9b5e",
  status: "queued",
  title: null,
  language: null,
  duration_seconds: null,
  created_at: "2026-11-21T08:00:00.123+00:00",
  updated_at: "2026-11-21T08:00:00.123+00:00",
  source: { type: "file", name: "interview", url: null },
  workspace: { id: "019aa0f2-7d11-7b0c-8f53-0f2c5d1be8a7", name: "Newsroom" },
  progress: { step: null, percent: null, indeterminate: false },
  failure_reason: null,
};

export const processingExample: TranscriptionResource = {
  ...queuedExample,
  status: "processing",
  language: "de",
  duration_seconds: 1893,
  updated_at: "2026-11-21T08:01:10.480+00:00",
  progress: { step: "transcribe", percent: 42, indeterminate: false },
};

export const completedExample: TranscriptionResource = {
  ...processingExample,
  status: "completed",
  updated_at: "2026-11-21T08:02:31.902+00:00",
  progress: { step: null, percent: 100, indeterminate: false },
};

export const failedExample: TranscriptionResource = {
  ...queuedExample,
  status: "failed",
  duration_seconds: 12,
  updated_at: "2026-11-21T08:00:04.051+00:00",
  failure_reason: "no_speech",
};

export const segmentExamples: SegmentResource[] = [
  { index: 0, start: 0.42, end: 3.18, speaker: "A", text: "Guten Tag, schön, dass Sie da sind." },
  { index: 1, start: 3.55, end: 4.91, speaker: "B", text: "Danke für die Einladung." },
];
