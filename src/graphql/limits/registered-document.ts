import { GraphQLError, Kind } from 'graphql'
import { CALLER_LIMITS, findDocumentError } from './document-limits.ts'
import { parseDocument } from './known-documents.ts'

/** The name of the one operation of a text, or why it could not be executed by any schema. */
export function readOperation(text: string): { name: string | null } | { problem: string } {
  try {
    const document = parseDocument(text)
    const error = findDocumentError(document, CALLER_LIMITS)
    if (error) throw error
    const operations = document.definitions.filter((node) => node.kind === Kind.OPERATION_DEFINITION)
    const [operation] = operations
    return operation && operations.length === 1
      ? { name: operation.name?.value ?? null }
      : { problem: 'A document must have one operation.' }
  } catch (error) {
    if (error instanceof GraphQLError) return { problem: error.message }
    throw error
  }
}
