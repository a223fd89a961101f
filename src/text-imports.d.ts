declare module "*.sql" {
  const text: string;
  export default text;
}

declare module "*.service" {
  const text: string;
  export default text;
}
