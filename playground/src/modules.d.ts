declare module "virtual:program" {
  /** The program, compressed, in base 64. */
  const encoded: string;
  export default encoded;
}
