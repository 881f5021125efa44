import * as z from 'zod'
import type { Ctx } from '../context/context.ts'
import type { Scope } from '../core/scopes.ts'
import type { PageArgs } from '../schema/page.ts'
import { requestIdShape } from '../schema/response-shapes.ts'

/** Names of the parameters in a path such as `/users/:userId`. */
type ParamNames<Path extends string> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? Name | ParamNames<`/${Rest}`>
  : Path extends `${string}:${infer Name}`
    ? Name
    : never

/** The parsed request that the handler of a route receives. */
export type RestRequest<Param extends string = string, Query extends string = string> = {
  params: Record<Param, string>
  /** The declared query parameters that the request has. */
  query: Partial<Record<Query, string>>
  /** The paging parameters of a `paged` route; empty for other routes. */
  paging: PageArgs
  /** The filter, nested like the shape; the service validates it. */
  filter: Record<string, unknown>
  /** The parsed JSON body; undefined for a route without a body. */
  body: unknown
}

/**
 * One operation of the REST API. Routes are data: the app and openapi.json are built from them.
 *
 *     // users.fields.ts: the shapes of responses (see schema/response-shapes.ts) and of input
 *     export const UserShape = z.object({ id: createIdShape('user'), … }).meta({ id: 'User', model: 'User' })
 *     export const UserPatch = z.strictObject(…).meta({ id: 'UserPatch', model: 'User', example: {…} })
 *     // users.rest.ts
 *     defineRestRoute({ …, body: UserPatch, response: UserShape, errors: [409] })
 *     defineRestRoute({ …, paged: true, response: createListShape('users', UserShape) })
 *     defineRestRoute({ …, response: DoneShape }) // the handler returns toDoneBody
 */
export type RestRoute = {
  method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE'
  /** Without the base `/{tenant}/api/v1`, parameters as `:name`. */
  path: string
  /** The operation's name, the same in the service and in GraphQL. */
  operationId: string
  summary: string
  /** The required scope; without it, the request is rejected with FORBIDDEN. */
  scope: Scope
  /** Scopes of which one is enough instead. */
  otherScopes?: readonly Scope[]
  /** Requires that the request of an administrator of an organization is about it, instead of the scope. Throws Forbidden. */
  requireInOrganization?: (ctx: Ctx, request: RestRequest) => Promise<void>
  /** The status of success; 200 by default. */
  status?: 201
  /** Builds the path of the created resource from the response body, without the base. */
  location?: (body: Readonly<Record<string, unknown>>) => string
  /**
   * The shape of the JSON body, for openapi.json; the service validates it. Without it, the body is ignored.
   */
  body?: z.ZodType
  /** The shape of the response body of success, for openapi.json; tests check every response against it. */
  response: z.ZodType
  /** Further response headers of success, with their descriptions. */
  headers?: Readonly<Record<string, string>>
  /** Error statuses in addition to those of every operation. */
  errors?: readonly 409[]
  /**
   * The shape of query parameters in addition to those of `paged` and `filter`; the service validates them.
   */
  query?: z.ZodObject
  /**
   * The shape of a list's filter. Its members are query parameters; those of nested objects have dots:
   * `createdAt.gte`.
   */
  filter?: z.ZodObject
  /**
   * Accepts page and pageSize, or after, before and pageSize; 'by-cursor' reads by cursor without any of them. The response
   * has a Link header.
   */
  paged?: true | 'by-cursor'
  /** Accepts an Idempotency-Key (http/idempotency.ts). Other routes ignore the header. */
  idempotent?: true
  /** The body may be omitted. */
  isBodyOptional?: true
  /**
   * The response, and with 'both' also the request body, is a stream of lines (application/x-ndjson);
   * `response` and `body` are the shapes of a line. The handler returns an AsyncGenerator of arrays of lines;
   * its `body` is a stream of bytes.
   */
  ndjson?: 'response' | 'both'
  /** The media type of a streamed request body, where it is not that of lines. */
  streamType?: 'text/csv'
  handle(ctx: Ctx, request: RestRequest): Promise<object>
}

/** Declares a route; `path` and `query` determine the types of `params` and `query` of its handler. */
export const defineRestRoute = <
  const Path extends string,
  Query extends z.ZodObject = z.ZodObject<Record<never, z.ZodType>>,
>(
  route: Omit<RestRoute, 'path' | 'query' | 'handle'> & {
    path: Path
    query?: Query
    handle(
      ctx: Ctx,
      request: RestRequest<ParamNames<Path>, Extract<keyof Query['shape'], string>>,
    ): Promise<object>
  },
): RestRoute => route as RestRoute

/** The response body of delete, revoke and unlink. */
export const DoneShape = z
  .object({
    message: z.string().meta({ description: 'What was done.', example: 'It is done.' }),
    requestId: requestIdShape,
    fields: z.array(z.never()).max(0).meta({ description: 'Always empty.', example: [] }),
  })
  .meta({ id: 'Done', description: 'The request succeeded.' })

const headersByBody = new WeakMap<object, Record<string, string>>()

/** Attaches response headers to a body, for values that the body has no member for. */
export function attachHeaders<Body extends object>(body: Body, headers: Record<string, string>): Body {
  headersByBody.set(body, headers)
  return body
}
/** Returns the headers that `attachHeaders` has attached. */
export const getAttachedHeaders = (body: object): Record<string, string> => headersByBody.get(body) ?? {}

/** Creates the body of `DoneShape`: that of an error without a code. */
export const toDoneBody = (ctx: Ctx, message: string) => ({ message, requestId: ctx.requestId, fields: [] })
