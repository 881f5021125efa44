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

/**
 * Why a document with mutations has failed. An error beside a result is about a member that the viewer may not read: the
 * change was made.
 */
export function findResponseProblem(
  response: object,
  errors: readonly { readonly message: string }[] | null | undefined,
): Problem | null {
  const results = Object.values(response)
  if (errors?.[0] && results.some((result) => result === null))
    return { message: errors[0].message, fields: [] }
  return results.map(findProblem).find(Boolean) ?? null
}

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
