/** The errors of a mutation's result, as every union of results has them. */
type Result = { readonly __typename?: string; readonly message?: string } | null | undefined

/** The message of a result that is an error; null for a payload. */
export const findProblem = (result: Result): string | null => result?.message ?? null
