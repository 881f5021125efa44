/** An expected error of a mutation: in words, and by field where the input is at fault. */
export type Problem = {
  message: string
  fields: readonly { readonly field: string; readonly description: string }[]
}

type Result = { readonly message?: string; readonly fields?: Problem['fields'] }

const isResult = (value: unknown): value is Result => typeof value === 'object' && value !== null

/** The error of a mutation's result; null for a payload. */
function findProblem(result: unknown): Problem | null {
  if (!isResult(result) || result.message === undefined) return null
  return { message: result.message, fields: result.fields ?? [] }
}

/** The first error among the results of a document, which may have several mutations. */
export const findResponseProblem = (response: object): Problem | null =>
  Object.values(response).map(findProblem).find(Boolean) ?? null

export const toProblem = (error: Error): Problem => ({ message: error.message, fields: [] })
