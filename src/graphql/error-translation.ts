import SchemaBuilder, { BasePlugin, type PothosOutputFieldConfig, type SchemaTypes } from '@pothos/core'
import type { GraphQLFieldResolver } from 'graphql'
import { describeError } from '../errors.ts'
import { isPassing } from '../idempotency.ts'
import type { GraphQLContext } from './context.ts'

declare global {
  export namespace PothosSchemaTypes {
    export interface Plugins<Types extends SchemaTypes> {
      translateErrors: TranslateErrorsPlugin<Types>
    }
  }
}

/**
 * Turns what a resolver throws (a violated constraint, say) into ours, before the errors plugin looks for classes, and
 * notes how the mutation fared.
 */
class TranslateErrorsPlugin<Types extends SchemaTypes> extends BasePlugin<Types> {
  override wrapResolve(
    resolve: GraphQLFieldResolver<unknown, Types['Context'], object>,
    field: PothosOutputFieldConfig<Types>,
  ): GraphQLFieldResolver<unknown, Types['Context'], object> {
    if (!field.extensions?.pothosErrors) return resolve
    return async (...args) => {
      const { call } = args[2] as unknown as GraphQLContext
      try {
        const result = await resolve(...args)
        call.hasCreated = true
        return result
      } catch (error) {
        const known = describeError(error)
        call.mayFareBetter ||= isPassing(known)
        throw known
      }
    }
  }
}

export const translateErrors = 'translateErrors'
SchemaBuilder.registerPlugin(translateErrors, TranslateErrorsPlugin)
