import { graphql } from 'react-relay/hooks'

/** An expected error of a mutation: in words, and by field where the input is at fault. */
export type Problem = {
  message: string
  fields: readonly { readonly field: string; readonly description: string }[]
}

type Result = { readonly problem?: { readonly message: string; readonly fields?: Problem['fields'] } | null }

const isResult = (value: unknown): value is Result => typeof value === 'object' && value !== null

/** The error of a mutation's result; null for a payload. */
function findProblem(result: unknown): Problem | null {
  const problem = isResult(result) ? result.problem : null
  return problem ? { message: problem.message, fields: problem.fields ?? [] } : null
}

/** The first error among the results of a document, which may have several mutations. */
export const findResponseProblem = (response: object): Problem | null =>
  Object.values(response).map(findProblem).find(Boolean) ?? null

export const toProblem = (error: Error): Problem => ({ message: error.message, fields: [] })

/** The errors of a result: each mutation selects `...result_problem @alias(as: "problem") @relay(mask: false)`. */
graphql`
  fragment result_problem on UserError {
    message
    ... on ValidationError {
      fields {
        field
        description
      }
    }
    ... on ConflictError {
      fields {
        field
        description
      }
    }
  }
`
