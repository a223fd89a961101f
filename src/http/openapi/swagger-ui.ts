import icon from "swagger-ui-dist/favicon-32x32.png" with { type: "file" };
import manifest from "swagger-ui-dist/package.json" with { type: "json" };
import style from "swagger-ui-dist/swagger-ui.css" with { type: "file" };
import script from "swagger-ui-dist/swagger-ui-bundle.js" with { type: "file" };

/** The files of Swagger UI (Apache-2.0) that the page needs. Only this module knows their paths. */
export const swaggerUiFiles = [
  { name: "swagger-ui-bundle.js", path: script, mediaType: "text/javascript; charset=utf-8" },
  { name: "swagger-ui.css", path: style, mediaType: "text/css; charset=utf-8" },
  { name: "icon.png", path: icon, mediaType: "image/png" },
] as const;

export const swaggerUiVersion: string = manifest.version;
