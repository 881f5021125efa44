import SchemaBuilder, { BasePlugin, type PothosOutputFieldConfig, type SchemaTypes } from '@pothos/core'
import { defaultFieldResolver, type GraphQLFieldResolver } from 'graphql'
import { ACCOUNT_SCOPE, type Scope } from '../core/scopes.ts'
import { createScopeError, type GraphQLContext, hasOwnScope, type OwnScope } from './context.ts'

declare global {
  export namespace PothosSchemaTypes {
    export interface Plugins<Types extends SchemaTypes> {
      ownFields: OwnFieldsPlugin<Types>
    }
  }
}

export type OwnFieldRule = { scope: Scope; ownScope: OwnScope }

/** Whether the caller may read the fields of a rule. */
export const mayReadOwnField = (context: GraphQLContext, { scope, ownScope }: OwnFieldRule): boolean =>
  context.ctx.scopes.has(scope) || hasOwnScope(context, ownScope)

/** The rules of the resolvers that return the member of the object with the name of the field. */
const memberRules = new WeakMap<object, OwnFieldRule>()

/** The rule of a resolver that otherwise returns a member of the object; undefined for any other resolver. */
export const findOwnRule = (resolve: object): OwnFieldRule | undefined => memberRules.get(resolve)

/**
 * The rule of a field of a type whose rule lets users read their own: callers with `scope` read it of
 * everybody, users their own with `ownScope` or `account`.
 */
export type OwnFieldExtensions = { ownField: OwnFieldRule }

/**
 * Enforces OwnFieldExtensions. A synchronous comparison around the resolver instead of a rule of the scope
 * plugin, which would cost each field of each row of a list.
 */
class OwnFieldsPlugin<Types extends SchemaTypes> extends BasePlugin<Types> {
  override wrapResolve(
    resolve: GraphQLFieldResolver<unknown, Types['Context'], object>,
    field: PothosOutputFieldConfig<Types>,
  ): GraphQLFieldResolver<unknown, Types['Context'], object> {
    const rule = (field.extensions as Partial<OwnFieldExtensions> | undefined)?.ownField
    if (!rule) return resolve
    const resolveOwn: typeof resolve = (...args) => {
      const context = args[2] as unknown as GraphQLContext
      if (!mayReadOwnField(context, rule))
        throw createScopeError(context, [...new Set([rule.ownScope, ACCOUNT_SCOPE])])
      return resolve(...args)
    }
    if (resolve === defaultFieldResolver) memberRules.set(resolveOwn, rule)
    return resolveOwn
  }
}

export const ownFields = 'ownFields'
SchemaBuilder.registerPlugin(ownFields, OwnFieldsPlugin)
