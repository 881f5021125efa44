import type { AppError, FieldIssue } from '../../core/errors.ts'
import type { RestRoute } from '../../rest/route.ts'
import { restRoutes } from '../../server/rest-routes.ts'

/** A JSON object of a response. */
export type Body = Record<string, unknown>

export type OperationRequest = {
  params?: Record<string, string>
  query?: Record<string, string>
  body?: unknown
}

/** Executes an operation of REST by its id. Resolves with the body and, of a list, the cursor of the next page. Throws AppError. */
export type Call = (
  operation: string,
  request?: OperationRequest,
) => Promise<{ body: Body; after: string | null }>

/** The operations of one tenant, on its database or over HTTP. */
export type PublicApi = {
  call: Call
  /** Calls `work` in one transaction, or over HTTP without one. */
  atomically: <Result>(work: (call: Call) => Promise<Result>) => Promise<Result>
  /** Id of the client whose token makes the calls, which does not delete itself. */
  callerId?: string | undefined
  /** Whether changes that fail leave nothing behind. */
  isAtomic: boolean
}

const routes = new Map(restRoutes.map((route) => [route.operationId, route]))

/** The route of an operation, which exists. */
export function getRoute(operation: string): RestRoute {
  const route = routes.get(operation)
  if (!route) throw new Error(`no operation ${operation}`)
  return route
}

/** The names of the parameters in the path of a route. */
export const listPathParams = ({ path }: Pick<RestRoute, 'path'>): string[] =>
  [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => name)

/** The name and the shape of the items of a list. */
export function getListMember({ operationId, response }: RestRoute): { name: string; item: unknown } {
  const members = Object.entries((response as unknown as { shape: Record<string, object> }).shape)
  const found = members.find(([, shape]) => 'element' in shape)
  if (!found) throw new Error(`${operationId} is not a list`)
  return { name: found[0], item: (found[1] as { element: unknown }).element }
}

const MAX_PAGE_SIZE = '1000'

/** All items of a list. */
export async function listAll(
  call: Call,
  operation: string,
  request: OperationRequest = {},
): Promise<Body[]> {
  const { name } = getListMember(getRoute(operation))
  const items: Body[] = []
  for (let after: string | null | undefined; after !== null; ) {
    const query = { ...request.query, pageSize: MAX_PAGE_SIZE, ...(after !== undefined && { after }) }
    const page = await call(operation, { ...request, query })
    items.push(...(page.body[name] as Body[]))
    after = page.after
  }
  return items
}

/** The fields of an error below `path`, or its message there. */
export const prefixFields = ({ fields, message }: AppError, path: string): FieldIssue[] =>
  fields.length === 0
    ? [{ field: path, description: message }]
    : fields.map(({ field, description }) => ({
        field: [path, field].filter(Boolean).join('.'),
        description,
      }))
