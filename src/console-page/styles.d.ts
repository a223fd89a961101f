/** The bundler puts them into the page's style sheet. */
declare module "*.css";
