import { DataDirectory } from "../../src/storage/index.ts";
import { describeAudioStore } from "./audio-store.ts";

describeAudioStore("the audio of a data directory", (directory) => new DataDirectory(`${directory}/data`).audio);
