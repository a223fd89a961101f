import "./style/base.css";
import "./style/shell.css";
import "./style/parts.css";
import "./style/dialog.css";
import "./style/upload.css";
import "./style/overview.css";
import "./style/recordings.css";
import "./style/recording.css";
import "./style/transcript.css";
import "./style/player.css";
import "./style/accounts.css";
import { render } from "preact";
import { App } from "./app.tsx";

const place = document.getElementById("app");
if (place !== null) render(<App />, place);
