/** A JSON value of any shape, whose members a test reads without narrowing. */
// biome-ignore lint/suspicious/noExplicitAny: an assertion follows each access
export type Json = any
