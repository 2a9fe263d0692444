declare module "virtual:program" {
  /** The program, compressed and in base 64, and its length. */
  const program: { packed: string; length: number };
  export default program;
}
