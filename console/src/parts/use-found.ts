import { useEffect, useState } from 'react'
import { fetchQuery, type GraphQLTaggedNode, type OperationType } from 'relay-runtime'
import { environment } from '../api/environment.ts'

const WAIT_MS = 150

/** What a query finds for a typed text, once one stops typing. `found` is null until the answer to the present text is there. */
export function useFound<Operation extends OperationType>(
  query: GraphQLTaggedNode,
  search: string,
  variables: Operation['variables'],
): { found: Operation['response'] | null; problem: string | null } {
  const [answer, setAnswer] = useState<{ search: string; found: Operation['response'] } | null>(null)
  const [problem, setProblem] = useState<string | null>(null)
  // biome-ignore lint/correctness/useExhaustiveDependencies: the variables follow from the text
  useEffect(() => {
    let request: { unsubscribe: () => void } | undefined
    const timer = setTimeout(
      () => {
        setProblem(null)
        request = fetchQuery<Operation>(environment, query, variables).subscribe({
          next: (found) => setAnswer({ search, found }),
          error: (error: Error) => setProblem(error.message),
        })
      },
      search ? WAIT_MS : 0,
    )
    return () => {
      clearTimeout(timer)
      request?.unsubscribe()
    }
  }, [search])
  return { found: answer?.search === search ? answer.found : null, problem }
}
