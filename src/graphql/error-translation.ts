import SchemaBuilder, { BasePlugin, type PothosOutputFieldConfig, type SchemaTypes } from '@pothos/core'
import type { GraphQLFieldResolver } from 'graphql'
import { describeError } from '../errors.ts'

declare global {
  export namespace PothosSchemaTypes {
    export interface Plugins<Types extends SchemaTypes> {
      translateErrors: TranslateErrorsPlugin<Types>
    }
  }
}

/** Turns what a resolver throws (a violated constraint, say) into ours, before the errors plugin looks for classes. */
class TranslateErrorsPlugin<Types extends SchemaTypes> extends BasePlugin<Types> {
  override wrapResolve(
    resolve: GraphQLFieldResolver<unknown, Types['Context'], object>,
    field: PothosOutputFieldConfig<Types>,
  ): GraphQLFieldResolver<unknown, Types['Context'], object> {
    if (!field.extensions?.pothosErrors) return resolve
    return async (...args) => {
      try {
        return await resolve(...args)
      } catch (error) {
        throw describeError(error)
      }
    }
  }
}

export const translateErrors = 'translateErrors'
SchemaBuilder.registerPlugin(translateErrors, TranslateErrorsPlugin)
