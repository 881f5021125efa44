import { setImmediate } from 'node:timers/promises'
import { ROLES, SCOPES, type Scope, SYSTEM_SCOPES, SYSTEM_TENANT } from '../ctx.ts'
import { descriptionOf } from '../descriptions.ts'
import { issuerOf } from '../oidc/keys/keys.ts'
import { answersOf, bodyOf, errorAnswers, HEADERS } from './openapi-answers.ts'
import { IDEMPOTENCY_PARAMETER, PAGING_PARAMETERS, parametersOf } from './openapi-parameters.ts'
import { createSchemas } from './openapi-schemas.ts'
import type { RestRoute } from './route.ts'

/** What the groups of operations are about. The group of an operation is what its scope is about. */
const TAGS: Record<string, string | undefined> = {
  users: descriptionOf('User'),
  sessions: 'Sign-ins: listing, authenticating and ending them.',
  credentials: 'Passkeys of users, and the links with which they are enrolled.',
  passcodes: 'One-time passcodes by e-mail and text message.',
  idps: 'Upstream identity providers, and the identities that users have there.',
  clients: descriptionOf('Client'),
  tenant: 'What the tenant chose for itself.',
  events: 'The log: who did what, when, from where.',
  tenants: 'The tenants of the deployment.',
}
const tagOf = (scope: Scope): string => scope.slice(0, scope.indexOf(':'))

const DESCRIPTION = `Users, sessions, credentials, passcodes, identity providers, clients and settings of one tenant.

- Call with an access token of the tenant. Every operation names the scope that it needs.
- Errors always have the same body. \`fields\` names everything that is wrong with a request at once.
- In changes, what is left out stays as it is; \`null\`, or an empty string, unsets a field. What only answers have may be sent back unchanged. Unknown members and parameters are refused by name.
- Lists go by \`page\` and \`pageSize\`, or by the cursors of the \`Link\` header.
- Answers are in UTF-8 and never cached. \`HEAD\` works wherever \`GET\` does.`

/** What only operators may do stands in the document of tenant `system` alone. */
const isOffered = (scope: Scope, tenant: string) => tenant === SYSTEM_TENANT || !SYSTEM_SCOPES.includes(scope)

function securitySchemes(tenant: string) {
  const [authorizationUrl, tokenUrl] = ['authorize', 'token'].map(
    (name) => `${issuerOf(tenant)}/oidc/${name}`,
  )
  const wordsOf = (isIncluded: (scope: Scope) => boolean) =>
    Object.fromEntries(Object.entries(SCOPES).filter(([scope]) => isIncluded(scope as Scope)))
  const scopes = wordsOf((scope) => isOffered(scope, tenant))
  const forPeople = wordsOf((scope) => ROLES.admin.includes(scope))
  return {
    oauth2: {
      type: 'oauth2',
      description:
        'Machine clients get a token by their secret or a signed assertion; people with a role by the authorization code flow with PKCE (S256). A token that is bound to a key comes with a proof, by the scheme DPoP (RFC 9449).',
      flows: {
        clientCredentials: { tokenUrl, scopes },
        authorizationCode: { authorizationUrl, tokenUrl, refreshUrl: tokenUrl, scopes: forPeople },
      },
    },
    bearer: {
      type: 'http',
      scheme: 'bearer',
      bearerFormat: 'JWT',
      description: 'An access token of this tenant, or of an operator.',
    },
  }
}

/** `/users/:userId` as OpenAPI writes it. */
const templateOf = (path: string) => path.replaceAll(/:([A-Za-z]+)/g, '{$1}')

/**
 * Operations and what they refer to: the same for all tenants that offer the same. All of them at once would keep the event
 * loop for a tenth of a second and more.
 */
async function surfaceOf(routes: readonly RestRoute[]) {
  const schemas = createSchemas()
  const paths: Record<string, Record<string, unknown>> = {}
  for (const route of routes) {
    await setImmediate()
    const operation = {
      operationId: route.operationId,
      summary: route.summary,
      tags: [tagOf(route.scope)],
      security: [{ oauth2: [route.scope] }, { bearer: [route.scope] }],
      parameters: parametersOf(route, schemas),
      requestBody: bodyOf(route, schemas),
      responses: answersOf(route, schemas),
    }
    const path = templateOf(route.path)
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operation }
  }
  return {
    tags: [...new Set(routes.map(({ scope }) => tagOf(scope)))].map((name) => ({
      name,
      description: TAGS[name],
    })),
    paths,
    components: {
      parameters: { ...PAGING_PARAMETERS, [IDEMPOTENCY_PARAMETER.name]: IDEMPOTENCY_PARAMETER },
      headers: HEADERS,
      responses: errorAnswers(schemas),
      schemas: schemas.components,
    },
  }
}

/** Makes the OpenAPI 3.1 documents of tenants out of the routes, each surface once: openapi.json. */
export function createDocuments(routes: readonly RestRoute[]) {
  const surfaces = new Map<boolean, ReturnType<typeof surfaceOf>>()
  return async (tenant: string) => {
    const isSystem = tenant === SYSTEM_TENANT
    const surface =
      surfaces.get(isSystem) ?? surfaceOf(routes.filter(({ scope }) => isOffered(scope, tenant)))
    surfaces.set(isSystem, surface)
    const { tags, paths, components } = await surface
    return {
      openapi: '3.1.1',
      info: {
        title: 'Vestibule management API',
        version: '1',
        description: DESCRIPTION,
        license: { name: 'Apache 2.0', identifier: 'Apache-2.0' },
      },
      servers: [{ url: `${issuerOf(tenant)}/api/v1`, description: `Tenant ${tenant}.` }],
      tags,
      paths,
      components: { securitySchemes: securitySchemes(tenant), ...components },
    }
  }
}
