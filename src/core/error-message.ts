/** The message of a thrown value, for a log line or a terminal. */
export const errorMessage = (error: unknown): string =>
  error instanceof Error ? error.message : String(error)
