import { useState } from "preact/hooks";
import type { RecordingDetail } from "../../console/contract.ts";
import { announce } from "../announce.tsx";
import { Icon, Told } from "../parts/index.ts";
import { askResponse, troubleOf } from "../server.ts";
import { strings } from "../strings.ts";

const texts = strings.exports;
/** Milliseconds after which a browser has surely started to save a file. */
const savedAfter = 60_000;

/** Renders buttons that save the transcript in one of the formats, with the speakers' names. */
export function Exports({ recording }: { recording: RecordingDetail }) {
  const [making, setMaking] = useState<string | null>(null);
  const [trouble, setTrouble] = useState<string | null>(null);
  const save = async ({ format, file_name }: RecordingDetail["exports"][number]) => {
    setMaking(format);
    setTrouble(null);
    try {
      const response = await askResponse(`recordings/${recording.id}/exports/${format}`);
      hand(await response.blob(), file_name);
      announce(texts.saved(file_name));
    } catch (error) {
      setTrouble(troubleOf(error));
    }
    setMaking(null);
  };
  return (
    <section aria-labelledby="exports">
      <h2 id="exports">{texts.title}</h2>
      <div class="exports">
        {recording.exports.map((each) => (
          <button
            key={each.format}
            type="button"
            disabled={making !== null}
            aria-label={texts.save(each.format.toUpperCase())}
            onClick={() => void save(each)}
          >
            <Icon name="save" /> {each.format.toUpperCase()}
          </button>
        ))}
      </div>
      <p class="soft" role="status">
        {making !== null && texts.making(making.toUpperCase())}
      </p>
      <Told trouble={trouble} />
    </section>
  );
}

/** Makes the browser save content that is already in memory. */
function hand(content: Blob, name: string): void {
  const address = URL.createObjectURL(content);
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), savedAfter);
}
