import type { GraphQLContext } from './context.ts'

type EarlyField = { name: string; read: (context: GraphQLContext) => Promise<void> }
const fields: EarlyField[] = []

/**
 * Declares a field whose value is read into the context before the query is executed. The fields of a query are executed
 * at the same time, so that a resolver cannot read before the others.
 */
export const registerEarlyField = (name: string, read: EarlyField['read']): void =>
  void fields.push({ name, read })

/** The early fields of a query. A document that has the word elsewhere costs one statement. */
export const findEarlyFields = (text: string): EarlyField[] =>
  fields.filter(({ name }) => text.includes(name))
