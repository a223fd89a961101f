import { useState } from "preact/hooks";
import type { RecordingDetail } from "../../contract.ts";
import { announce } from "../announce.tsx";
import { Icon, Told } from "../parts/index.ts";
import { askResponse, troubleOf } from "../server.ts";
import { strings } from "../strings.ts";

const texts = strings.exports;
/** Milliseconds after which a browser has begun to save what it was handed. */
const savedAfter = 60_000;

/** Saves the transcript in one of the formats, with the speakers' names. */
export function Exports({ recording }: { recording: RecordingDetail }) {
  const [making, setMaking] = useState<string | null>(null);
  const [trouble, setTrouble] = useState<string | null>(null);
  const save = async (format: string) => {
    setMaking(format);
    setTrouble(null);
    try {
      const response = await askResponse(`recordings/${recording.id}/exports/${format}`);
      const name = fileNameOf(response.headers.get("content-disposition")) ?? `transcript.${format}`;
      hand(await response.blob(), name);
      announce(texts.saved(name));
    } catch (error) {
      setTrouble(troubleOf(error));
    }
    setMaking(null);
  };
  return (
    <section aria-labelledby="exports">
      <h2 id="exports">{texts.title}</h2>
      <div class="exports">
        {recording.export_formats.map((format) => (
          <button
            key={format}
            type="button"
            disabled={making !== null}
            aria-label={texts.save(format.toUpperCase())}
            onClick={() => void save(format)}
          >
            <Icon name="save" /> {format.toUpperCase()}
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

/** Of the header that names it: RFC 6266, the form for all alphabets first. */
function fileNameOf(disposition: string | null): string | null {
  const encoded = /filename\*=UTF-8''([^;]+)/i.exec(disposition ?? "")?.[1];
  if (encoded !== undefined) return decodeURIComponent(encoded);
  return /filename="([^"]+)"/.exec(disposition ?? "")?.[1] ?? null;
}

/** Has the browser save what is in memory already. */
function hand(content: Blob, name: string): void {
  const address = URL.createObjectURL(content);
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), savedAfter);
}
