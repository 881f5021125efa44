import { useState } from 'react'
import { useMutation } from 'react-relay/hooks'
import type { GraphQLTaggedNode, MutationParameters } from 'relay-runtime'
import { findResponseProblem, type Problem, toProblem } from './result.ts'

/**
 * A mutation, whether it is under way, and why it has failed. `run` calls `onDone` with a payload, and `onProblem` with an
 * error. The document selects `result_problem`.
 */
export function useProblemMutation<Operation extends MutationParameters>(mutation: GraphQLTaggedNode) {
  const [commit, isRunning] = useMutation<Operation>(mutation)
  const [problem, setProblem] = useState<Problem | null>(null)
  const run = (
    variables: Operation['variables'],
    onDone?: (response: Operation['response']) => void,
    onProblem?: (problem: Problem) => void,
  ): void => {
    setProblem(null)
    const fail = (found: Problem): void => {
      setProblem(found)
      onProblem?.(found)
    }
    commit({
      variables,
      onError: (error) => fail(toProblem(error)),
      onCompleted: (response, errors) => {
        const found = findResponseProblem(response, errors)
        if (found) fail(found)
        else onDone?.(response)
      },
    })
  }
  return { run, isRunning, problem }
}
