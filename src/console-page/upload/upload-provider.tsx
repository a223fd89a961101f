import { type ComponentChildren, createContext } from "preact";
import { useContext, useRef, useState } from "preact/hooks";
import type { UploadOptions } from "../../console/contract.ts";
import { Icon } from "../parts/index.ts";
import { strings } from "../strings.ts";
import { useAnswer } from "../use-answer.ts";
import { DropZone } from "./drop-zone.tsx";
import type { Choice } from "./send-recording.ts";
import { Tray } from "./tray.tsx";
import { UploadDialog } from "./upload-dialog.tsx";
import { useUploads } from "./use-uploads.ts";

const choosing = createContext<(choice: Choice) => void>(() => {});

/** Lets the user upload recordings from anywhere inside it: by dropping files on the page, or with UploadButtons. */
export function UploadProvider({ children }: { children: ComponentChildren }) {
  const { uploads, send, drop } = useUploads();
  const [choice, setChoice] = useState<Choice>([]);
  return (
    <choosing.Provider value={setChoice}>
      {children}
      <DropZone onFiles={setChoice} />
      {(choice === "link" || choice.length > 0) && (
        <UploadDialog choice={choice} onSend={send} onClose={() => setChoice([])} />
      )}
      <Tray uploads={uploads} onDrop={drop} />
    </choosing.Provider>
  );
}

/** Renders the buttons to choose files and, if the server fetches links, to enter a link. */
export function UploadButtons() {
  const { value: options } = useAnswer<UploadOptions>("upload-options");
  const choose = useContext(choosing);
  const field = useRef<HTMLInputElement>(null);
  const take = (event: { currentTarget: HTMLInputElement }) => {
    choose([...(event.currentTarget.files ?? [])]);
    // Allows the user to choose the same file again.
    event.currentTarget.value = "";
  };
  return (
    <div class="buttons">
      {options?.links && (
        <button type="button" class="quiet" onClick={() => choose("link")}>
          {strings.upload.chooseLink}
        </button>
      )}
      <button type="button" class="main" onClick={() => field.current?.click()}>
        <Icon name="send" /> {strings.upload.choose}
      </button>
      <input ref={field} type="file" multiple hidden onChange={take} aria-label={strings.upload.choose} />
    </div>
  );
}
