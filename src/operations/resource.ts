import type { ObjectRef } from '@pothos/core'
import type * as z from 'zod'
import type { Ctx } from '../context/context.ts'
import type { Scope } from '../core/scopes.ts'
import type { GraphQLTypes } from '../graphql/builder.ts'
import { defineConnectionType } from '../graphql/connection.ts'
import type { Loaders } from '../graphql/loaders.ts'
import { createBodyMapper } from '../schema/response-shapes.ts'

/** A kind of objects that both surfaces return. */
export type Resource<Row> = {
  /** The name of an object in payloads, such as `registrationToken`. */
  member: string
  /** The words for an object in descriptions; by default those of `member`. */
  words?: string
  /** The name of a list of them in REST, such as `registrationTokens`. */
  members: string
  ref: ObjectRef<GraphQLTypes, Row>
  /** The scope that reading one requires. */
  scope: Scope
  /** The GraphQL type requires no scope, so that callers who may write an object get it in the payload. */
  isPublic?: true
  /** When a payload has none, in words. */
  nullWhen?: string
  /** The body of REST. */
  shape: z.ZodObject
  toBody(ctx: Ctx, row: Row): object
  /** REST reads its lists by cursor: they have a page and a total where a page is asked for. */
  isByCursor?: true
  /** The cursor of an object in the list of all of them, in its default order. */
  toCursor?(ctx: Ctx, row: Row): string
  /** Loads one for a payload that has its id. */
  load?(loaders: Loaders, id: string): Promise<Row | null>
  /** The connection type of GraphQL; made when a list is declared. */
  getConnection(): object
}

/** Declares the resource of an object type. Its body has the members of `shape`, unless `toBody` makes it. */
export function defineResource<Row>(
  declared: Omit<Resource<Row>, 'getConnection' | 'members' | 'toBody'> &
    Partial<Pick<Resource<Row>, 'members' | 'toBody'>>,
): Resource<Row> {
  const pickMembers = createBodyMapper(declared.shape)
  let connection: object | undefined
  return {
    members: `${declared.member}s`,
    toBody: (_ctx, row) => pickMembers(row as Record<string, unknown>),
    ...declared,
    getConnection: () => (connection ??= defineConnectionType<Row>(declared.ref.name, declared.ref)),
  }
}

/** `registrationToken` is "registration token". */
export const toWords = (member: string): string =>
  member.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)

/** `lockUser` is `LockUser`. */
export const capitalize = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1)
