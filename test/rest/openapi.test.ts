import { Validator } from '@seriousme/openapi-schema-validator'
import { describe, expect } from 'vitest'
import { clientJwks } from '../../src/clients/client-keys.fields.ts'
import { SCOPES, SYSTEM_TENANT } from '../../src/core/scopes.ts'
import { restRoutes } from '../../src/server/rest-routes.ts'
import { test as base } from '../support/fixtures.ts'
import { buildOpenApi, getContract, type OpenApi } from '../support/openapi.ts'
import { listOperations, type Schema, schemas, systemDocument } from '../support/openapi-document.ts'

const test = base.extend(
  'fetchDocument',
  { scope: 'file' },
  ({ app }) =>
    async (tenant: string) =>
      (await (await app.fetch(`/${tenant}/api/v1/openapi.json`)).json()) as OpenApi,
)

describe('GET /openapi.json', () => {
  test('returns the document of the tenant without a token', async ({
    app,
    tenant,

    fetchDocument,
  }) => {
    const response = await app.fetch(`/${tenant}/api/v1/openapi.json`)
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/json'])
    expect(response.headers.get('cache-control')).toBe('private, max-age=300')
    expect(response.headers.get('x-request-id')).toBeTruthy()
    const document = (await response.json()) as OpenApi
    const issuer = `http://localhost:3000/${tenant}`
    expect(document.servers.map(({ url }) => url)).toEqual([`${issuer}/api/v1`])
    expect(document.components.securitySchemes.oauth2?.flows).toEqual({
      clientCredentials: { tokenUrl: `${issuer}/oidc/token`, scopes: expect.anything() },
      authorizationCode: {
        authorizationUrl: `${issuer}/oidc/authorize`,
        tokenUrl: `${issuer}/oidc/token`,
        refreshUrl: `${issuer}/oidc/token`,
        scopes: expect.anything(),
      },
    })
    expect(document).toEqual(await buildOpenApi(tenant))
    expect(await fetchDocument(SYSTEM_TENANT)).toEqual(systemDocument)
  })

  test('permits every origin', async ({ app, tenant, token }) => {
    const headers = { origin: 'https://editor.example', authorization: `Bearer ${token}` }
    const response = await app.fetch(`/${tenant}/api/v1/openapi.json`, { headers })
    expect(response.headers.get('access-control-allow-origin')).toBe('*')
  })

  test('answers HEAD, rejects POST and has one spelling', async ({ app, tenant }) => {
    const path = `/${tenant}/api/v1/openapi.json`
    const head = await app.fetch(path, { method: 'HEAD' })
    expect([head.status, await head.text()]).toEqual([200, ''])
    const post = await app.fetch(path, { method: 'POST' })
    expect([post.status, post.headers.get('allow')]).toEqual([405, 'GET, HEAD'])
    for (const other of [
      '/no-such-tenant/api/v1/openapi.json',
      `${path}/`,
      `/${tenant}/api/v1//openapi.json`,
      `/${tenant}/api/v1/openapi%2ejson`,
      `/${tenant}/api/v1/OpenAPI.json`,
    ])
      expect([other, (await app.fetch(other)).status]).toEqual([other, 404])
  })

  test('contains the operations and scopes of operators at tenant system only', async ({
    tenant,
    fetchDocument,
  }) => {
    const own = await fetchDocument(tenant)
    const names = listOperations(own).map(({ name }) => name)
    expect(
      listOperations(systemDocument)
        .map(({ name }) => name)
        .filter((name) => !names.includes(name)),
    ).toEqual([
      'post /tenants',
      'get /tenants',
      'get /tenants/{slug}',
      'delete /tenants/{slug}',
      'get /tenants/{slug}/setup',
    ])
    const scopesOf = ({ components }: OpenApi) =>
      Object.keys(components.securitySchemes.oauth2?.flows?.clientCredentials?.scopes as object)
    expect(scopesOf(systemDocument)).toEqual(Object.keys(SCOPES))
    expect(scopesOf(own).filter((scope) => scope.startsWith('tenants:'))).toEqual([])
  })
})

describe('the OpenAPI document', () => {
  test('is valid OpenAPI 3.1', async ({ tenant }) => {
    for (const document of [systemDocument, await buildOpenApi(tenant)]) {
      const { valid, errors } = await new Validator().validate(structuredClone(document))
      expect({ valid, errors }).toEqual({ valid: true, errors: undefined })
      expect(document.openapi).toMatch(/^3\.1\./)
    }
  })

  test('contains every route with a unique operationId, its scope and a tag', () => {
    const operations = listOperations(systemDocument)
    expect(operations.map(({ name }) => name).sort()).toEqual(
      restRoutes
        .map(({ method, path }) => `${method.toLowerCase()} ${path.replaceAll(/:(\w+)/g, '{$1}')}`)
        .sort(),
    )
    const names = operations.map(({ operation }) => operation.operationId)
    expect(new Set(names).size).toBe(names.length)
    const routes = new Map(restRoutes.map((route) => [route.operationId, route]))
    const groups = systemDocument.tags.map(({ name }) => name)
    for (const { operation } of operations) {
      const { operationId, security, tags } = operation as typeof operation & {
        security: Record<string, string[]>[]
        tags: string[]
      }
      const { scope, otherScopes = [], requireInOrganization } = routes.get(operationId) ?? {}
      const administrators = requireInOrganization ? ['organization'] : []
      const alternatives = [scope, ...otherScopes, ...administrators].flatMap((one) => [
        { oauth2: [one] },
        { bearer: [one] },
      ])
      expect([operationId, security]).toEqual([operationId, alternatives])
      expect(groups).toEqual(expect.arrayContaining(tags))
    }
    expect(systemDocument.tags.filter(({ description }) => !description)).toEqual([])
  })

  test('has a request body for every operation apart from GET and DELETE', () => {
    const BODILESS = ['GET', 'DELETE']
    const mismatched = restRoutes.filter(
      ({ method, body }) => BODILESS.includes(method) === (body !== undefined),
    )
    expect(mismatched.map(({ operationId }) => operationId)).toEqual([])
  })

  test('describes every component and every field', () => {
    const isDescribed = (schema: Schema): boolean =>
      schema.description !== undefined ||
      [schema, ...(schema.anyOf ?? [])].some(
        ({ $ref }) => $ref && (schemas[$ref.split('/').at(-1) ?? ''] as Schema).description,
      )
    const undescribed = Object.entries(schemas).flatMap(([name, schema]) => [
      ...(schema.description ? [] : [name]),
      ...Object.entries(schema.properties ?? {}).flatMap(([field, property]) =>
        isDescribed(property) ? [] : [`${name}.${field}`],
      ),
    ])
    expect(undescribed).toEqual([])
  })

  test('has a valid example of the keys of a client and describes what happens to its secret', () => {
    for (const name of ['ClientCreate', 'ClientPatch', 'Client']) {
      const schema = JSON.stringify(systemDocument.components.schemas[name])
      expect(schema).toContain('stays valid too')
      const { jwks } = (JSON.parse(schema) as { properties: Record<string, { examples?: unknown[] }> })
        .properties
      if (name !== 'ClientPatch') expect(clientJwks.parse(jwks?.examples?.[0])).toEqual(jwks?.examples?.[0])
    }
  })

  test('has examples that are valid by their schemas', async () => {
    const contract = await getContract()
    const issues: string[] = []
    const check = (place: string, example: unknown) =>
      issues.push(...contract.findIssues(place, example).map((issue) => `${place}: ${issue}`))
    /** Walks what may contain schemas; the `examples` of a schema must be valid by it. */
    const walk = (value: unknown, path: string[]): void => {
      if (typeof value !== 'object' || value === null) return
      const place = path
        .map((part) => encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1')))
        .join('/')
      const { examples, example, schema } = value as {
        examples?: unknown[]
        example?: unknown
        schema?: object
      }
      if (Array.isArray(examples)) for (const one of examples) check(place, one)
      if (example !== undefined && schema) check(`${place}/schema`, example)
      for (const [name, member] of Object.entries(value))
        if (name !== 'examples' && name !== 'example') walk(member, [...path, name])
    }
    walk(systemDocument.paths, ['paths'])
    walk(systemDocument.components, ['components'])
    expect(issues).toEqual([])
    const examples = listOperations(systemDocument).flatMap(({ name, operation }) =>
      [operation.requestBody, operation.responses['200'], operation.responses['201']].flatMap((part) => {
        const content = part && 'content' in part ? part.content : undefined
        return Object.entries(content ?? {}).map(([type, { example }]) => [name, type, example !== undefined])
      }),
    )
    expect(examples.filter(([, type, has]) => type === 'application/json' && !has)).toEqual([])
  })
})
