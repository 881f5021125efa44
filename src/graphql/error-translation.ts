import SchemaBuilder, { BasePlugin, type PothosOutputFieldConfig, type SchemaTypes } from '@pothos/core'
import type { GraphQLFieldResolver } from 'graphql'
import { toAppError } from '../core/to-app-error.ts'
import { isTransient } from '../http/idempotency.ts'
import type { GraphQLContext } from './context.ts'

declare global {
  export namespace PothosSchemaTypes {
    export interface Plugins<Types extends SchemaTypes> {
      translateErrors: TranslateErrorsPlugin<Types>
    }
  }
}

/**
 * Converts errors of resolvers (such as a violated constraint) to AppErrors before the errors plugin compares
 * classes, and records the outcome of the mutation in `call`.
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
        call.hasSucceeded = true
        return result
      } catch (error) {
        const translated = toAppError(error)
        call.isRetryable ||= isTransient(translated)
        throw translated
      }
    }
  }
}

export const translateErrors = 'translateErrors'
SchemaBuilder.registerPlugin(translateErrors, TranslateErrorsPlugin)
