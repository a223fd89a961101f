import { createAccount } from "../src/accounts/index.ts";
import { openDatabaseOf } from "../src/database/index.ts";
import { newRecordingId, Recordings } from "../src/recordings/index.ts";
import { packSegment, type Segment } from "../src/segments/index.ts";
import { DataDirectory } from "../src/storage/index.ts";
import { newRecording } from "./new-recording.ts";

export interface Filled {
  /** A recording of many segments and three speakers; the last segment contains `Zanzibar`. */
  readonly longId: string;
  readonly count: number;
  /** An Arabic recording with a number in its text, and its translation to English. */
  readonly arabicId: string;
}

const sentences = [
  "We went down to the harbour before sunrise, and nobody had told us that the ferry would not come.",
  "Yes.",
  "He laughed first and thought about it later; that was his way of staying out of trouble, or so he believed until the winter of the great storm.",
  "It was, but you would not have known it from looking at us.",
];
const english = ["We went to the harbour in 1984 before sunrise.", "Yes.", "He laughed first and thought later."];
const arabic = ["ذهبنا إلى الميناء في 1984 قبل شروق الشمس.", "نعم.", "ضحك أولاً ثم فكر لاحقاً."];

/** Stores completed recordings of a separate account in a data directory, also while a server runs on it. */
export function fill(dataDirectory: string, longSegments = 10_000): Filled {
  const store = openDatabaseOf(new DataDirectory(dataDirectory));
  try {
    const recordings = new Recordings(store, Date.now);
    const account = createAccount(store, "archive", { actor: "test", now: Date.now() });
    const enter = (
      sourceName: string,
      language: string,
      segments: readonly Segment[],
      translation: readonly Segment[] = [],
    ) => {
      const id = newRecordingId(Date.now());
      recordings.create(newRecording(id, account.id, { sourceName, isTranslated: translation.length > 0 }));
      recordings.claim(id);
      recordings.rows.addTranslation(id, translation.map(packSegment));
      recordings.describe(id, { durationSeconds: (segments.at(-1)?.endSeconds ?? 0) + 1, language });
      recordings.complete(id, segments);
      return id;
    };
    // More recordings than one page of the list.
    for (let number = 1; number <= 60; number++) enter(`Note ${number}`, "en", [segment(0, "A short note.")]);
    const long = Array.from({ length: longSegments }, (_, index) =>
      segment(index, index === longSegments - 1 ? "Zanzibar." : (sentences[(index * 7) % sentences.length] ?? "")),
    );
    return {
      count: 62,
      longId: enter("The whole day", "en", long),
      arabicId: enter(
        "حديث الميناء",
        "ar",
        arabic.map((text, index) => segment(index, text)),
        english.map((text, index) => segment(index, text)),
      ),
    };
  } finally {
    store.$client.close();
  }
}

function segment(index: number, text: string): Segment {
  const startSeconds = index * 6;
  const spoken = text.split(" ");
  const each = 5 / spoken.length;
  return {
    ...{ index, startSeconds, endSeconds: startSeconds + 5, speaker: Math.floor(index / 3) % 3, text },
    words: spoken.map((word, place) => ({
      text: ` ${word}`,
      startSeconds: startSeconds + place * each,
      endSeconds: startSeconds + (place + 1) * each,
      probability: word === "nobody" ? 0.2 : 0.9,
    })),
  };
}
