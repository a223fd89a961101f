import { useState } from "preact/hooks";
import type { RecordingDetail } from "../../contract/index.ts";
import { announce } from "../announce.tsx";
import { Icon, Problem } from "../parts/index.ts";
import { request } from "../server.ts";
import { strings } from "../strings.ts";
import { useAttempt } from "../use-data.ts";

const texts = strings.exports;
/** Time after which a browser has surely started to save a file. */
const SAVE_MILLISECONDS = 60_000;

interface ExportsProps {
  readonly recording: RecordingDetail;
  readonly text: "transcript" | "translation";
}

/** Renders buttons that save the transcript or its translation in one of the formats, with the speakers' names. */
export function Exports({ recording, text }: ExportsProps) {
  const [generating, setGenerating] = useState("");
  const { problem, isRunning, attempt } = useAttempt();
  const save = (format: string, fileName: string) =>
    attempt(async () => {
      setGenerating(texts.name(format));
      const response = await request("exportTranscript", { id: recording.id, format, query: { text } });
      saveFile(await response.blob(), fileName);
      announce(texts.saved(fileName));
    });
  return (
    <section aria-labelledby="exports">
      <h2 id="exports">{text === "translation" ? texts.translationTitle : texts.title}</h2>
      <div class="exports">
        {recording.exports.map(({ format, file_name, translation_file_name }) => (
          <button
            key={format}
            type="button"
            disabled={isRunning}
            aria-label={texts.save(texts.name(format))}
            onClick={() => void save(format, (text === "translation" && translation_file_name) || file_name)}
          >
            <Icon name="save" /> {texts.name(format)}
          </button>
        ))}
      </div>
      <p class="soft" role="status">
        {isRunning && texts.generating(generating)}
      </p>
      <Problem problem={problem} />
    </section>
  );
}

/** Makes the browser save content that is already in memory. */
function saveFile(content: Blob, name: string): void {
  const address = URL.createObjectURL(content);
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), SAVE_MILLISECONDS);
}
