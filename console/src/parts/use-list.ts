import { useCallback, useEffect, useRef, useState, useSyncExternalStore } from 'react'
import { useRelayEnvironment } from 'react-relay/hooks'
import {
  createOperationDescriptor,
  type Environment,
  type GraphQLTaggedNode,
  getRequest,
  type OperationType,
  type PayloadData,
  type Variables,
} from 'relay-runtime'
import { ApiError, toApiError } from '../api/api-error.ts'
import { t } from '../words/words.ts'
import { ListPages, type LoadedPage, PAGE_ROWS } from './list-pages.ts'

/** A connection as the queries of lists select it. */
type Connection<Row> = {
  readonly totalSize?: number
  readonly nodes: readonly Row[]
  readonly pageInfo: {
    readonly startCursor: string | null | undefined
    readonly endCursor: string | null | undefined
    readonly hasNextPage: boolean
  }
}

/** The query of a list: its pages, and with the first one the count and the position that subscriptions continue. */
export type ListQuery<Operation extends OperationType, Row> = {
  query: GraphQLTaggedNode
  /** The filter and the order. */
  variables: Omit<
    Operation['variables'],
    'isFirst' | 'page' | 'pageSize' | 'first' | 'after' | 'last' | 'before'
  >
  getConnection: (response: Operation['response']) => Connection<Row> | null | undefined
}

type Answer = {
  data?: PayloadData | null
  errors?: readonly Parameters<typeof toApiError>[0][]
}

/** Sends a query. An error is thrown where it leaves a root field without data. */
export async function sendQuery(environment: Environment, query: GraphQLTaggedNode, variables: Variables) {
  const operation = createOperationDescriptor(getRequest(query), variables)
  const { params } = operation.request.node
  const sent = environment.getNetwork().execute(params, variables, { force: true })
  const { data, errors } = (await sent.toPromise()) as Answer
  if (data && !Object.values(data).includes(null)) return { operation, data }
  throw errors?.[0] ? toApiError(errors[0]) : new ApiError(t('The answer has no data.'))
}

type FirstResponse = { readonly viewer?: { readonly eventPosition: string | null | undefined } | null }

/** Asks for a page, whose rows stay in the store, and follow its changes, until it is released. */
async function loadPage<Operation extends OperationType, Row>(
  environment: Environment,
  { query, variables, getConnection }: ListQuery<Operation, Row>,
  place: object,
) {
  const { operation, data } = await sendQuery(environment, query, { ...variables, ...place })
  environment.commitPayload(operation, data)
  const retained = environment.retain(operation)
  const response = environment.lookup(operation.fragment).data as Operation['response']
  const connection = getConnection(response)
  const page: LoadedPage<Row> = {
    rows: connection?.nodes ?? [],
    startCursor: connection?.pageInfo.startCursor,
    endCursor: connection?.pageInfo.endCursor,
    hasNextPage: connection?.pageInfo.hasNextPage ?? false,
    release: () => retained.dispose(),
  }
  return { response: response as FirstResponse, connection, page }
}

/** A list as it is shown. `position` is that of the events that it has seen. */
export type ShownList<Row> = {
  pages: ListPages<Row>
  position: string | null | undefined
  /** The first row to show; a part of it may be above. */
  firstRow: number
}

/** The rows at which lists were left, by their entries of the history, so that Back leads there. */
const leftAt = new Map<string, number>()
const MAX_LEFT = 50
const getEntry = (): string => (history.state as { __TSR_key?: string } | null)?.__TSR_key ?? location.href

export function keepRow(row: number): void {
  const entry = getEntry()
  leftAt.delete(entry)
  leftAt.set(entry, row)
  const [oldest] = leftAt.keys()
  if (leftAt.size > MAX_LEFT && oldest !== undefined) leftAt.delete(oldest)
}

/**
 * The list of a query. While another filter or order is loaded, the former rows stay. `refresh` loads it again from the first
 * row on.
 */
export function useList<Operation extends OperationType, Row>(list: ListQuery<Operation, Row>) {
  const environment = useRelayEnvironment()
  const [generation, setGeneration] = useState(0)
  const key = JSON.stringify([generation, list.variables])
  const latest = useRef(list)
  latest.current = list
  const [shown, setShown] = useState<(ShownList<Row> & { key: string }) | null>(null)
  const [problem, setProblem] = useState<Error | null>(null)
  const current = useRef(shown)
  useEffect(() => {
    let isCurrent = true
    const asked = latest.current
    const firstRow = current.current === null ? (leftAt.get(getEntry()) ?? 0) : 0
    const page = Math.floor(firstRow / PAGE_ROWS)
    setProblem(null)
    loadPage(environment, asked, { isFirst: true, page, pageSize: PAGE_ROWS }).then(
      ({ response, connection, page: loaded }) => {
        if (!isCurrent) return loaded.release()
        const pages = new ListPages<Row>(connection?.totalSize ?? 0, async (place) => {
          const more = await loadPage(environment, asked, { isFirst: false, ...place })
          return more.page
        })
        pages.add(page, loaded)
        const former = current.current
        current.current = {
          key,
          pages,
          firstRow: Math.min(firstRow, Math.max(pages.total - 1, 0)),
          position: response.viewer?.eventPosition,
        }
        setShown(current.current)
        former?.pages.release()
      },
      (error: Error) => {
        if (isCurrent) setProblem(error)
      },
    )
    return () => {
      isCurrent = false
    }
  }, [environment, key])
  useEffect(() => () => current.current?.pages.release(), [])
  const pages = shown?.pages
  useSyncExternalStore(
    useCallback((listener) => pages?.subscribe(listener) ?? (() => {}), [pages]),
    () => pages?.version ?? 0,
  )
  return {
    shown,
    isStale: shown?.key !== key,
    problem: problem ?? pages?.problem ?? null,
    retry: () => (problem === null ? pages?.retry() : setGeneration((former) => former + 1)),
    refresh: () => setGeneration((former) => former + 1),
  }
}
