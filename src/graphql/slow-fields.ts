import { type GraphQLFieldResolver, type GraphQLSchema, isObjectType } from 'graphql'
import { findRecord } from '../core/requests/record.ts'
import { startSpan } from '../core/requests/spans.ts'
import { findOwnRule } from './own-fields.ts'

/** A field that takes longer has a span. */
const SLOW_MS = 10

type Resolver = GraphQLFieldResolver<unknown, unknown>

const traceSlow =
  (name: string, resolve: Resolver): Resolver =>
  (source, args, context, info) => {
    const result: unknown = resolve(source, args, context, info)
    if (!(result instanceof Promise) || !findRecord()?.span) return result
    const [startTime, start] = [Date.now(), performance.now()]
    return result.finally(() => {
      if (performance.now() - start > SLOW_MS) startSpan({ name, kind: 'internal', startTime })?.end()
    })
  }

/** Has slow fields shown as spans. Fields that are read from their object without waiting stay as they are. */
export function traceSlowFields(schema: GraphQLSchema): void {
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type) || type.name.startsWith('__')) continue
    for (const field of Object.values(type.getFields()))
      if (field.resolve && !findOwnRule(field.resolve))
        field.resolve = traceSlow(`${type.name}.${field.name}`, field.resolve)
  }
}
