import type * as z from 'zod'
import type { Ctx } from '../context/context.ts'
import { Conflict, InvalidInput, RateLimited } from '../core/errors.ts'
import type { Scope } from '../core/scopes.ts'
import { builder, type GraphQLTypes, type InputFields } from '../graphql/builder.ts'
import { getEdgeType } from '../graphql/connection.ts'
import {
  withAccountScope,
  withPublicAccess,
  withScope,
  withScopeOrAdministrator,
} from '../graphql/field-access.ts'
import { markCreation } from '../graphql/idempotency.ts'
import type { Loaders } from '../graphql/loaders.ts'
import { toResultOptions } from '../graphql/result-options.ts'
import { buildInputFields, buildObjectFields, getModel } from '../graphql/shape-fields.ts'
import { DoneShape, type RestRoute, toDoneBody } from '../rest/route.ts'
import { requireInOrganization } from './in-organization.ts'
import { capitalize, type Resource, toWords } from './resource.ts'
import { describeTarget, parseTargets, readTargets, type Target, type TargetIds } from './targets.ts'

type ExpectedError = Parameters<typeof toResultOptions>[number]

/** The members of a payload: objects of resources, and values of shapes. */
type Output = Record<string, Resource<unknown> | z.ZodType>
/** A value of a response shape, whose times may be dates. */
type Value<Shown> = Shown extends string
  ? Shown | Date
  : Shown extends object
    ? { [Member in keyof Shown]: Value<Shown[Member]> }
    : Shown

/** What the service returns for an output. */
type ResultOf<Members extends Output> = {
  [Name in keyof Members]: Members[Name] extends Resource<infer Row>
    ? Row
    : Members[Name] extends z.ZodType
      ? Value<z.output<Members[Name]>>
      : never
}

/** The route of a mutation. The rest follows from the mutation. */
type MutationRoute<Result> = Pick<RestRoute, 'method' | 'path' | 'status' | 'location' | 'headers'> & {
  /** The message of success, of an operation that returns nothing else. */
  message?: string
  /** The response, where it differs from the object that the mutation returns. */
  response?: z.ZodType
  toBody?(ctx: Ctx, result: Result): object
}

export type Mutation<Name extends Target, Members extends Output> = {
  /** Also the operationId of REST, and the name of the service's function. */
  name: string
  summary: string
  /** The required scope; `account` for an operation on the caller's own account. */
  scope: Scope | 'account'
  /**
   * An administrator of an organization may call it about this organization, with these members of the input; see
   * operations/in-organization.ts. Absent, it requires the scope.
   */
  inOrganization?: readonly string[]
  /** Accepts an Idempotency-Key. */
  isCreation?: true
  /** The objects that it is about. */
  targets?: readonly Name[]
  /** The shape of its input, which the service validates. */
  input?: z.ZodObject
  /** The input may be omitted over REST. */
  isInputOptional?: true
  /** Expected errors besides InvalidInput and, of an operation on the own account, RateLimited: each change is counted. */
  errors?: readonly ExpectedError[]
  output: Members
  /** Objects that the payload of GraphQL has besides, each loaded by the member of the result with its id. */
  loaded?: Record<string, { resource: Resource<unknown>; by: string }>
  /** Absent for an operation that only GraphQL has. */
  rest?: MutationRoute<ResultOf<Members>>
  run(ctx: Ctx, ids: TargetIds<Name>, input: unknown): Promise<ResultOf<Members>>
}

const isResource = (member: Resource<unknown> | z.ZodType): member is Resource<unknown> => 'ref' in member

/** Members that only responses have are accepted in REST, where clients send objects back. */
const listInputShapes = (input: z.ZodObject | undefined): Record<string, z.ZodType> =>
  Object.fromEntries(
    Object.entries(input?.shape ?? {}).filter(([, shape]) => (shape as z.ZodType).meta()?.readOnly !== true),
  ) as Record<string, z.ZodType>

/** The input type: ids of the targets and the members of the input. */
function defineInput({ name, targets = [], input }: Mutation<Target, Output>) {
  return builder.inputType(`${capitalize(name)}Input`, {
    description: `Input of ${name}.`,
    fields: (t: InputFields) => ({
      ...Object.fromEntries(
        targets.map((target) => [target, t.id({ required: true, description: describeTarget(target) })]),
      ),
      ...buildInputFields(t, listInputShapes(input), getModel(input)),
    }),
  })
}

/** An object is null for callers who may write it but not read it. */
function describeMember(
  member: string,
  { scope, isPublic, nullWhen, words = toWords(member) }: Resource<unknown>,
  writeScope: string,
): { description: string; nullable?: true } {
  if (isPublic || writeScope === 'account') return { description: `The ${words}.` }
  const missing = nullWhen ? ` when ${nullWhen}, and` : ''
  return {
    nullable: true,
    description: `The ${words}; null${missing}, with an error, for callers without ${scope}.`,
  }
}

/** The first resource of an output, whose object is the body of the response. */
const findBody = (output: Output) =>
  Object.entries(output).find((entry): entry is [string, Resource<unknown>] => isResource(entry[1]))

/** The edge of a created object in the list of all of them, which clients prepend or append to it. */
const buildEdgeField = (
  t: PothosSchemaTypes.ObjectFieldBuilder<GraphQLTypes, Record<string, unknown>>,
  member: string,
  { ref, scope, words = toWords(member), toCursor }: Resource<unknown>,
) => [
  `${member}Edge`,
  t.field({
    ...withScope(scope, `The ${words} as an edge of the list, in its default order.`),
    type: getEdgeType(ref) as never,
    nullable: true,
    resolve: (result, _args, { ctx }) => {
      const node = result[member]
      return { node, cursor: toCursor?.(ctx, node) } as never
    },
  }),
]

function definePayload({ name, scope, rest, output, loaded = {} }: Mutation<Target, Output>) {
  return builder.objectRef<Record<string, unknown>>(`${capitalize(name)}Payload`).implement({
    ...withPublicAccess(`The result of ${name}.`),
    fields: (t) => {
      const buildField = (
        member: string,
        resource: Resource<unknown>,
        resolve: (result: Record<string, unknown>, loaders: Loaders) => unknown,
      ) =>
        t.field({
          type: resource.ref as never,
          ...describeMember(member, resource, scope),
          resolve: (result, _args, { loaders }) => resolve(result, loaders) as never,
        })
      const fields = Object.entries(output).map(([member, value]) => [
        member,
        isResource(value)
          ? buildField(member, value, (result) => result[member])
          : buildObjectFields(t as never, { [member]: value })[member],
      ])
      const created = rest?.status === 201 ? findBody(output) : undefined
      const edgeFields = created?.[1].toCursor ? [buildEdgeField(t as never, ...created)] : []
      const loadedFields = Object.entries(loaded).map(([member, { resource, by }]) => [
        member,
        buildField(member, resource, (result, loaders) => resource.load?.(loaders, result[by] as string)),
      ])
      return Object.fromEntries([...fields, ...edgeFields, ...loadedFields])
    },
  })
}

/** The options of the field of a mutation that is not about the own account. */
function toAccess({ summary, inOrganization, targets = [] }: Mutation<Target, Output>, scope: Scope) {
  if (!inOrganization) return withScope(scope, summary)
  const check = { scope, members: inOrganization }
  return withScopeOrAdministrator(scope, summary, (ctx, { input }: { input: Record<string, string> }) =>
    requireInOrganization(ctx, check, {
      ids: Object.fromEntries(targets.map((target) => [target, input[target] ?? ''])),
      given: input,
    }),
  )
}

function defineField(mutation: Mutation<Target, Output>): void {
  const { name, summary, scope, isCreation, targets = [], errors = [] } = mutation
  const isOwn = scope === 'account'
  const access = isOwn ? withAccountScope(summary) : toAccess(mutation, scope)
  builder.mutationField(name, (t) =>
    t.field({
      ...(isCreation ? markCreation(access) : access),
      ...toResultOptions(InvalidInput, ...errors, ...(isOwn ? [RateLimited] : [])),
      type: definePayload(mutation),
      args: {
        input: t.arg({ type: defineInput(mutation), required: true, description: `The input of ${name}.` }),
      },
      resolve: (_root, { input }, { ctx }) => {
        const ids = readTargets(targets, input)
        const rest = Object.fromEntries(
          Object.entries(input).filter(([member]) => !targets.includes(member as Target)),
        )
        return mutation.run(ctx, ids, rest)
      },
    }),
  )
}

function toRoute(mutation: Mutation<Target, Output>): RestRoute[] {
  const {
    name,
    summary,
    scope,
    inOrganization,
    isCreation,
    targets = [],
    input,
    isInputOptional,
    errors = [],
    output,
  } = mutation
  if (!mutation.rest || scope === 'account') return []
  const { message, response, toBody, ...route } = mutation.rest
  const [member, resource] = findBody(output) ?? []
  const toResponse = (ctx: Ctx, result: Record<string, unknown>): object => {
    if (message !== undefined) return toDoneBody(ctx, message)
    if (toBody) return toBody(ctx, result as never)
    return resource?.toBody(ctx, result[member as string] as never) ?? result
  }
  return [
    {
      ...route,
      operationId: name,
      summary,
      scope,
      ...(inOrganization && {
        requireInOrganization: (ctx, { params, body }) =>
          requireInOrganization(ctx, { scope, members: inOrganization }, { ids: params, given: body }),
      }),
      ...(isCreation && { idempotent: true }),
      ...(input && { body: input }),
      ...(isInputOptional && { isBodyOptional: true }),
      response: message === undefined ? (response ?? (resource?.shape as z.ZodType)) : DoneShape,
      ...(errors.includes(Conflict) && { errors: [409] }),
      handle: async (ctx, { params, body }) =>
        toResponse(ctx, await mutation.run(ctx, parseTargets(targets, params), body)),
    },
  ]
}

/**
 * Declares an operation that writes: the mutation with its input, payload and result union, and the REST route. Both
 * call `run`. Returns the routes, which server/rest-routes.ts lists.
 *
 *     defineMutation({
 *       name: 'lockUser',
 *       summary: 'Locks a user.',
 *       scope: 'users:write',
 *       targets: ['userId'],
 *       errors: [NotFound],
 *       output: { user: USER },
 *       rest: { method: 'POST', path: '/users/:userId/lock' },
 *       run: async (ctx, { userId }) => ({ user: await lockUser(ctx, userId) }),
 *     })
 */
export function defineMutation<const Name extends Target, const Members extends Output>(
  declared: Mutation<Name, Members>,
): readonly RestRoute[] {
  const mutation = declared as unknown as Mutation<Target, Output>
  defineField(mutation)
  return toRoute(mutation)
}
