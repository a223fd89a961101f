import packageJson from "../../package.json" with { type: "json" };

/** Version of this program, as `transcribe version` prints it. */
export const programVersion: string = packageJson.version;
