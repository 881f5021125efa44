import { readFileSync } from 'node:fs'
import type { GraphQLObjectType } from 'graphql'
import { describe, expect, test } from 'vitest'
import { restRoutes } from '../../src/server/rest-routes.ts'
import { replaceBlock } from '../support/documents.ts'
import { findRule, rootFields, schema } from '../support/schema.ts'

const DOCUMENT = 'docs/api.md'
const NONE = '–'

const lowerFirst = (name: string) => name.charAt(0).toLowerCase() + name.slice(1)

/**
 * The field of GraphQL for an operation of REST: `lockUser`, `users` for listUsers, `User.sessions` for listUserSessions,
 * `Tenant.setup` for getTenantSetup and getTenantSetupBySlug.
 */
function findField(operationId: string): string | null {
  const names = rootFields
    .filter(([, , field]) => field.deprecationReason === undefined)
    .map(([, , field]) => field.name)
  const object = lowerFirst(operationId.replace(/^(get|list)/, ''))
  const root = [operationId, object].find((name) => names.includes(name))
  if (root) return root
  const [, type = 'User', nested = ''] =
    /^(?:get|list)(User|Tenant|Organization)?(.*?)(?:BySlug)?$/.exec(operationId) ?? []
  const field = lowerFirst(nested)
  return field in (schema.getType(type) as GraphQLObjectType).getFields() ? `${type}.${field}` : null
}

/** The operations of both APIs as a table of Markdown, those of REST first. */
function buildTable(): string {
  const shared = restRoutes.map(({ operationId, method, path, scope, otherScopes = [] }) => {
    const field = findField(operationId)
    const scopes = [scope, ...otherScopes].map((one) => `\`${one}\``).join(' or ')
    return { field, row: [`\`${method} ${path}\``, field ? `\`${field}\`` : NONE, scopes] }
  })
  const rest = rootFields
    .filter(([, , field]) => !shared.some((operation) => operation.field === field.name))
    .map(([, kind, field]) => {
      const { scopes, account } = findRule(field) ?? {}
      const access = account ? ['account'] : (scopes ?? [])
      return [NONE, `\`${field.name}\` (${kind})`, access.map((scope) => `\`${scope}\``).join(', ') || NONE]
    })
  return [
    '| REST | GraphQL | Scope |',
    '|---|---|---|',
    ...[...shared.map(({ row }) => row), ...rest].map((cells) => `| ${cells.join(' | ')} |`),
  ].join('\n')
}

describe('the operations of both APIs', () => {
  test(`are those of ${DOCUMENT}, which -u rewrites`, async () => {
    const text = replaceBlock(readFileSync(DOCUMENT, 'utf8'), 'operations', buildTable())
    await expect(text).toMatchFileSnapshot(`../../${DOCUMENT}`)
  })
})
