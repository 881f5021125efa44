import { z } from 'zod'
import type { Ctx, Scope } from '../ctx.ts'
import type { PageArgs } from '../page.ts'
import { requestId } from '../shapes.ts'

/** Names of the parameters in a path such as `/users/:userId`. */
type ParamNames<Path extends string> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? Name | ParamNames<`/${Rest}`>
  : Path extends `${string}:${infer Name}`
    ? Name
    : never

/** What a route's handler gets, besides the context. */
export type RestRequest<Param extends string = string, Query extends string = string> = {
  params: Record<Param, string>
  /** The declared query parameters, each given once at most. */
  query: Partial<Record<Query, string>>
  /** What a `paged` route was asked for, as services take it; else empty. */
  paging: PageArgs
  /** What the parameters of the route's `filter` come to, nested as the shape is; the service checks it. */
  filter: Record<string, unknown>
  /** The parsed JSON body, where the route takes one; undefined otherwise. */
  body: unknown
}

/**
 * One operation of the management surface over REST. Routes are data: the app, and openapi.json, are made of them.
 *
 *     // users.fields.ts: what is answered, out of the resource's one field list (src/shapes.ts), beside what is taken
 *     export const UserShape = z.object({ id: idOf('user'), …, createdAt: time }).meta({ id: 'User', model: 'User' })
 *     export const UserPatch = z.strictObject(…).meta({ id: 'UserPatch', model: 'User', example: { locked: true } })
 *     // users.rest.ts
 *     restRoute({ …, body: UserPatch, response: UserShape, errors: [409] })
 *     restRoute({ …, paged: true, response: listShape('users', UserShape) })
 *     restRoute({ …, response: Done }) // of what answers toDone
 */
export type RestRoute = {
  method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE'
  /** Without the base `/{tenant}/api/v1`, parameters as `:name`. */
  path: string
  /** The operation's name, the same in the service and in GraphQL. */
  operationId: string
  summary: string
  /** Without it, the caller gets FORBIDDEN that names it. */
  scope: Scope
  /** Of success; 200 unless told. */
  status?: 201
  /** Path of what was created, without the base, out of the answer. */
  location?: (body: Readonly<Record<string, unknown>>) => string
  /** Shape of the JSON body, for openapi.json; services check it themselves. Without it, none is taken. */
  body?: z.ZodType
  /** Shape of the answer of success, for openapi.json and the tests, which check every answer against it. */
  response: z.ZodType
  /** Headers of success besides those that other members bring about: what they say, by name. */
  headers?: Readonly<Record<string, string>>
  /** Errors that this operation may answer besides those of every operation. */
  errors?: readonly 409[]
  /** Shape of the query parameters besides those of `paged` and `filter`, which the service checks; others are refused. */
  query?: z.ZodObject
  /** Shape of a list's filter. Its members are query parameters; those of a member object have dots: `createdAt.gte`. */
  filter?: z.ZodObject
  /** Takes page and pageSize, or after, before and pageSize; 'by-cursor' does without page. Answers with Link. */
  paged?: true | 'by-cursor'
  /** A creation, which a caller may repeat under an Idempotency-Key (src/idempotency.ts). Others ignore the header. */
  idempotent?: true
  /** The body may be left out. */
  isBodyOptional?: true
  /**
   * Speaks in lines (application/x-ndjson): `response`, and for 'both' `body`, are the shape of a line. The handler answers
   * an AsyncGenerator of lines, some at once, and gets as `body` the bytes as they arrive.
   */
  ndjson?: 'answer' | 'both'
  handle(ctx: Ctx, request: RestRequest): Promise<object>
}

/** Declares a route; `params` and `query` of its handler are typed by `path` and `query`. */
export const restRoute = <
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

/** Shape of the answer to delete, revoke and unlink. */
export const Done = z
  .object({
    message: z.string().meta({ description: 'What was done.', example: 'It is done.' }),
    requestId,
    fields: z.array(z.never()).max(0).meta({ description: 'Always empty.', example: [] }),
  })
  .meta({ id: 'Done', description: 'What was asked for is done.' })

const headersOfBodies = new WeakMap<object, Record<string, string>>()

/** An answer with headers of its own, for what the specification's body has no place for. */
export function withHeaders<Body extends object>(body: Body, headers: Record<string, string>): Body {
  headersOfBodies.set(body, headers)
  return body
}
export const headersOf = (body: object): Record<string, string> => headersOfBodies.get(body) ?? {}

/** The answer to delete, revoke and unlink: the shape of the error body, as the spec has it, without a code. */
export const toDone = (ctx: Ctx, message: string) => ({ message, requestId: ctx.requestId, fields: [] })
