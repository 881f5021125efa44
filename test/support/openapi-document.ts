import { SYSTEM_TENANT } from '../../src/core/scopes.ts'
import { buildOpenApi, type OpenApi, type Operation } from './openapi.ts'

export type Schema = {
  $ref?: string
  properties?: Record<string, Schema>
  anyOf?: Schema[]
  items?: Schema
  description?: string
  examples?: unknown[]
  readOnly?: boolean
}

/** The document of tenant `system`, which includes the operations of operators. */
export const systemDocument: OpenApi = await buildOpenApi(SYSTEM_TENANT)
export const schemas = systemDocument.components.schemas as Record<string, Schema>

export const listOperations = ({
  paths,
}: OpenApi): { name: string; method: string; path: string; operation: Operation }[] =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      name: `${method} ${path}`,
      method,
      path,
      operation,
    })),
  )

/** The example of the response with status 200. */
export function getExample(
  path: string,
  mediaType = 'application/json',
  method = 'get',
): Record<string, unknown> {
  const answer = systemDocument.paths[path]?.[method]?.responses['200'] as {
    content: Record<string, { example: Record<string, unknown> }>
  }
  return answer.content[mediaType]?.example ?? {}
}
