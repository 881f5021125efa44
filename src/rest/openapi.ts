import { setImmediate } from 'node:timers/promises'
import { issuerOf } from '../core/issuer.ts'
import {
  getRoleScopes,
  listRoles,
  ORGANIZATION_SCOPE,
  ROLE_NAMES,
  SCOPES,
  type Scope,
  SYSTEM_SCOPES,
  SYSTEM_TENANT,
} from '../core/scopes.ts'
import { findDescription } from '../schema/schema-descriptions.ts'
import { buildErrorResponses } from './openapi-errors.ts'
import { HEADERS } from './openapi-headers.ts'
import { buildParameters, IDEMPOTENCY_PARAMETER, PAGING_PARAMETERS } from './openapi-parameters.ts'
import { buildRequestBody, buildResponses } from './openapi-responses.ts'
import { createSchemas } from './openapi-schemas.ts'
import type { RestRoute } from './route.ts'

/** The tags with their descriptions. The tag of an operation is the first part of its scope. */
const TAGS: Record<string, string | undefined> = {
  users: findDescription('User'),
  sessions: 'Sessions of users: list, authenticate and end them.',
  credentials: 'Passkeys of users, and the links for their enrollment.',
  passcodes: 'One-time passcodes by e-mail and text message.',
  idps: 'Identity providers, and the linked identities of users.',
  idp_tokens: 'Tokens of identity providers that are kept for users.',
  organizations: 'Organizations, the customers of the tenant, and their domains and their members.',
  clients: findDescription('Client'),
  roles: 'APIs, roles and groups, and who has which permission.',
  api_keys: findDescription('ApiKey'),
  webhooks: findDescription('Webhook'),
  tenant: 'Settings and signing keys of the tenant.',
  events: 'The event log.',
  tenants: 'The tenants of the deployment.',
}
const toTag = (scope: Scope): string => scope.slice(0, scope.indexOf(':'))

const DESCRIPTION = `Users, sessions, credentials, passcodes, identity providers, clients and settings of one tenant.

- Requests need an access token of the tenant. Every operation states the scope that it requires.
- Errors always have the same body. \`fields\` has all invalid fields of a request.
- In changes, omitted fields stay unchanged, \`null\` unsets a field, and an empty string unsets a text. In creations, an empty string is no value. Members that only responses have may be sent back unchanged. Unknown members and parameters are rejected.
- Text has no U+0000 and no unpaired surrogates. Formats besides those of JSON Schema: \`phone\` is a phone number with its country code, in any notation, with an extension as \`;ext=\`; \`local-phone\` one without; \`time-zone\` a name of the time zone database; \`language-tag\` a tag of BCP 47; \`pem\` a public key or certificate; \`event-position\` the position of an event; \`cursor\` a value that only a response contains.
- Lists are paged with \`page\` and \`pageSize\`, or with the cursors of the \`Link\` header.
- Responses are in UTF-8 and must not be cached. Every \`GET\` supports \`HEAD\`.`

/** Scopes of operators are in the document of tenant `system` only. */
const isTenantScope = (scope: Scope, tenant: string) =>
  tenant === SYSTEM_TENANT || !SYSTEM_SCOPES.includes(scope)

function buildSecuritySchemes(tenant: string) {
  const [authorizationUrl, tokenUrl] = ['authorize', 'token'].map(
    (name) => `${issuerOf(tenant)}/oidc/${name}`,
  )
  const describeScopes = (isIncluded: (scope: Scope) => boolean) =>
    Object.fromEntries(Object.entries(SCOPES).filter(([scope]) => isIncluded(scope as Scope)))
  const scopes = describeScopes((scope) => isTenantScope(scope, tenant))
  const roleScopes = getRoleScopes(listRoles(tenant))
  const userScopes = describeScopes((scope) => roleScopes.has(scope))
  return {
    oauth2: {
      type: 'oauth2',
      description:
        'Machine clients get a token with their secret or a signed assertion; users with a role use the authorization code flow with PKCE (S256). A token that is bound to a key is sent with a proof and the scheme DPoP (RFC 9449).',
      flows: {
        clientCredentials: { tokenUrl, scopes },
        authorizationCode: { authorizationUrl, tokenUrl, refreshUrl: tokenUrl, scopes: userScopes },
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

/** Converts `/users/:userId` to `/users/{userId}`. */
const toPathTemplate = (path: string) => path.replaceAll(/:([A-Za-z]+)/g, '{$1}')

/**
 * Builds the operations and components of a document, which tenants share. Yields to the event loop between
 * routes: the whole document takes 0.1 s and more.
 */
async function buildOperations(routes: readonly RestRoute[], hiddenValues: readonly unknown[]) {
  const schemas = createSchemas(hiddenValues)
  const paths: Record<string, Record<string, unknown>> = {}
  for (const route of routes) {
    await setImmediate()
    const operation = {
      operationId: route.operationId,
      summary: route.summary,
      tags: [toTag(route.scope)],
      security: [
        route.scope,
        ...(route.otherScopes ?? []),
        ...(route.requireInOrganization ? [ORGANIZATION_SCOPE] : []),
      ].flatMap((scope) => [{ oauth2: [scope] }, { bearer: [scope] }]),
      parameters: buildParameters(route, schemas),
      requestBody: buildRequestBody(route, schemas),
      responses: buildResponses(route, schemas),
    }
    const path = toPathTemplate(route.path)
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operation }
  }
  return {
    tags: [...new Set(routes.map(({ scope }) => toTag(scope)))].map((name) => ({
      name,
      description: TAGS[name],
    })),
    paths,
    components: {
      parameters: { ...PAGING_PARAMETERS, [IDEMPOTENCY_PARAMETER.name]: IDEMPOTENCY_PARAMETER },
      headers: HEADERS,
      responses: buildErrorResponses(schemas),
      schemas: schemas.components,
    },
  }
}

/** Returns a function that builds the OpenAPI 3.1 document of a tenant; the operations are built once. */
export function createOpenApiDocuments(routes: readonly RestRoute[]) {
  const operationsByKind = new Map<boolean, ReturnType<typeof buildOperations>>()
  return async (tenant: string) => {
    const isSystem = tenant === SYSTEM_TENANT
    const operations =
      operationsByKind.get(isSystem) ??
      buildOperations(
        routes.filter(({ scope }) => isTenantScope(scope, tenant)),
        isSystem ? [] : [...SYSTEM_SCOPES, ...ROLE_NAMES.filter((role) => !listRoles(tenant).includes(role))],
      )
    operationsByKind.set(isSystem, operations)
    const { tags, paths, components } = await operations
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
      components: { securitySchemes: buildSecuritySchemes(tenant), ...components },
    }
  }
}
