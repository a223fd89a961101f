/** The bundler adds imported style sheets to the page's style sheet. */
declare module "*.css";
