import { Validator } from '@seriousme/openapi-schema-validator'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { jwkSet } from '../src/clients/client-keys.fields.ts'
import { SCOPES, SYSTEM_TENANT } from '../src/ctx.ts'
import { restRoutes } from '../src/rest/rest.ts'
import { newTenant, tokenFor } from './support/actors.ts'
import { startApp, type TestApp } from './support/app.ts'
import { checkAnswer, checkResponse, type OpenApi, openApiOf, theContract } from './support/openapi.ts'

/** The operations of the specification, with the methods and paths that the design gives them. */
const SPEC_OPERATIONS = {
  'Create user': 'post /users',
  'List users': 'get /users',
  'Get user by id': 'get /users/{userId}',
  'Update user': 'patch /users/{userId}',
  'Delete user': 'delete /users/{userId}',
  'Get user by email': 'get /users/by-email',
  'Get user by phone number': 'get /users/by-phone-number',
  'List user sessions': 'get /users/{userId}/sessions',
  'Authenticate session token': 'post /sessions/authenticate',
  'Get session': 'get /sessions/{sessionId}',
  'Create credential enrollment token': 'post /users/{userId}/credentials/enrollment-tokens',
  'List user credentials': 'get /users/{userId}/credentials',
  'Get credential': 'get /credentials/{credentialId}',
  'Revoke credential': 'delete /credentials/{credentialId}',
  'Send email one-time passcode': 'post /passcodes/email',
  'Send SMS one-time passcode': 'post /passcodes/sms',
  'Authenticate passcode': 'post /passcodes/authenticate',
  'List IdP users of a user': 'get /users/{userId}/idps',
  'Add IdP user': 'post /users/{userId}/idps/{idpId}',
  'Get IdP user': 'get /users/{userId}/idps/{idpId}',
  'Link IdP user': 'put /users/{userId}/idps/{idpId}',
  'Unlink IdP user': 'delete /users/{userId}/idps/{idpId}',
  'Create identity provider': 'post /idps',
  'List identity providers': 'get /idps',
  'Create client': 'post /clients',
  'List clients': 'get /clients',
  'Get client': 'get /clients/{clientId}',
  'Update client': 'patch /clients/{clientId}',
  'Delete client': 'delete /clients/{clientId}',
  'Update tenant settings': 'patch /settings',
}

/** What the design adds to them, and what came since. */
const FURTHER_OPERATIONS = [
  'delete /users/{userId}/sessions',
  'get /sessions',
  'delete /sessions/{sessionId}',
  'get /idps/{idpId}',
  'patch /idps/{idpId}',
  'delete /idps/{idpId}',
  'get /users/{userId}/consents',
  'delete /users/{userId}/consents/{clientId}',
  'post /clients/{clientId}/secret',
  'post /clients/registration-tokens',
  'get /clients/registration-tokens',
  'delete /clients/registration-tokens/{registrationTokenId}',
  'get /settings',
  'get /keys',
  'post /keys/rotate',
  'get /events',
  'post /tenants',
  'get /tenants',
  'get /tenants/{slug}',
  'delete /tenants/{slug}',
  'get /users/{userId}/roles',
  'put /users/{userId}/roles',
  'post /users/import',
  'get /users/export',
]

const fieldsOf = (list: string) => list.split(' ')

/** The field tables of the specification, in their order. */
const SPEC_FIELDS: Record<string, string[]> = {
  User: fieldsOf(
    'id name givenName familyName middleName nickname preferredUsername profile picture website email emailVerified gender birthdate zoneinfo locale phoneNumber phoneNumberVerified locked lockedAt address userMetadata appMetadata lastSeenAt updatedAt createdAt',
  ),
  Address: fieldsOf('formatted streetAddress locality region postalCode country'),
  Session: fieldsOf(
    'id userId clientId lastSeenAt lastSeenIp lastSeenLocation userAgent expiresAt updatedAt createdAt',
  ),
  Credential: fieldsOf('id type publicKey lastUsedAt createdAt device'),
  Device: fieldsOf(
    'hash swVersion mobile platform architecture bitness model platformVersion uaBrand uaVersion lastSeenIp lastSeenAt',
  ),
  EnrollmentToken: fieldsOf('token uri deepLink'),
  RequestMetadata: fieldsOf('deviceToken userAgent ipAddress'),
  IdpUser: fieldsOf('idpId userId externalId metadata lastLoginAt updatedAt createdAt'),
  // Its two secrets, clientSecret and idTokenSigningKey, are never answered.
  IdentityProvider: fieldsOf(
    'id type name clientId scopes issuer authorizationEndpoint tokenEndpoint userInfoEndpoint jwksUri idTokenSigningAlg platformTeamId platformKid updatedAt createdAt',
  ),
  NewClient: fieldsOf(
    'id name description appType themeColor logoUrl callbacks allowedOrigins webOrigins allowedLogoutUrls initiateLoginUrl tokenExpiryTime requireConsent type secret updatedAt createdAt',
  ),
  TenantSettings: fieldsOf('friendlyName logoUrl defaultAudience loginUrl supportUrl'),
  AuthenticatedSession: fieldsOf('session sessionToken user'),
  SentPasscode: fieldsOf('to userId userCreated'),
  Error: fieldsOf('message requestId fields'),
  Done: fieldsOf('message requestId fields'),
}

/** What we answer beside them. */
const OUR_FIELDS: Record<string, string[]> = {
  NewClient: [
    'scopes',
    'jwks',
    'backchannelLogoutUrl',
    'idTokenSigningAlg',
    'userInfoSigningAlg',
    'requirePushedRequests',
    'resources',
    'registeredBy',
  ],
  TenantSettings: ['dynamicRegistration', 'clientIdMetadataDocuments'],
  IdentityProvider: ['hasClientSecret', 'hasIdTokenSigningKey'],
  Error: ['code'],
}

/** The arrays of the specification's envelopes. */
const SPEC_LISTS: Record<string, string> = {
  '/users': 'users',
  '/users/{userId}/sessions': 'sessions',
  '/users/{userId}/credentials': 'credentials',
  '/users/{userId}/idps': 'idpUsers',
  '/idps': 'idps',
  '/clients': 'clients',
}

let app: TestApp
let tenant: string
const system = await openApiOf(SYSTEM_TENANT)
const schemas = system.components.schemas

beforeAll(async () => {
  app = await startApp()
  tenant = await newTenant()
})
afterAll(() => app.close())

const fetchDocument = async (of: string) =>
  (await (await app.fetch(`/${of}/api/v1/openapi.json`)).json()) as OpenApi
const operationsOf = ({ paths }: OpenApi) =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      name: `${method} ${path}`,
      method,
      path,
      operation,
    })),
  )

type Schema = {
  $ref?: string
  properties?: Record<string, Schema>
  anyOf?: Schema[]
  items?: Schema
  description?: string
  examples?: unknown[]
  readOnly?: boolean
}

describe('openapi.json', () => {
  it('is answered to anybody, for this very tenant', async () => {
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
    expect(document).toEqual(await openApiOf(tenant))
    expect(await fetchDocument(SYSTEM_TENANT)).toEqual(system)
  })

  it('may be read by the pages of any origin', async () => {
    const headers = { origin: 'https://editor.example', authorization: `Bearer ${await tokenFor(tenant)}` }
    const response = await app.fetch(`/${tenant}/api/v1/openapi.json`, { headers })
    expect(response.headers.get('access-control-allow-origin')).toBe('*')
  })

  it('obeys the rules of other paths', async () => {
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

  it('keeps what only operators may do to tenant system', async () => {
    const own = await fetchDocument(tenant)
    const names = operationsOf(own).map(({ name }) => name)
    expect(
      operationsOf(system)
        .map(({ name }) => name)
        .filter((name) => !names.includes(name)),
    ).toEqual(['post /tenants', 'get /tenants', 'get /tenants/{slug}', 'delete /tenants/{slug}'])
    const scopesOf = ({ components }: OpenApi) =>
      Object.keys(components.securitySchemes.oauth2?.flows?.clientCredentials?.scopes as object)
    expect(scopesOf(system)).toEqual(Object.keys(SCOPES))
    expect(scopesOf(own).filter((scope) => scope.startsWith('tenants:'))).toEqual([])
  })
})

describe('the document', () => {
  it('is OpenAPI 3.1', async () => {
    for (const document of [system, await openApiOf(tenant)]) {
      const { valid, errors } = await new Validator().validate(structuredClone(document))
      expect({ valid, errors }).toEqual({ valid: true, errors: undefined })
      expect(document.openapi).toMatch(/^3\.1\./)
    }
  })

  it('has every route, each with a name of its own, its scope and a group', () => {
    const operations = operationsOf(system)
    expect(operations.map(({ name }) => name).sort()).toEqual(
      restRoutes
        .map(({ method, path }) => `${method.toLowerCase()} ${path.replaceAll(/:(\w+)/g, '{$1}')}`)
        .sort(),
    )
    const names = operations.map(({ operation }) => operation.operationId)
    expect(new Set(names).size).toBe(names.length)
    const scopes = new Map(restRoutes.map(({ operationId, scope }) => [operationId, scope]))
    const groups = system.tags.map(({ name }) => name)
    for (const { operation } of operations) {
      const { operationId, security, tags } = operation as typeof operation & {
        security: Record<string, string[]>[]
        tags: string[]
      }
      const scope = scopes.get(operationId)
      expect([operationId, security]).toEqual([operationId, [{ oauth2: [scope] }, { bearer: [scope] }]])
      expect(groups).toEqual(expect.arrayContaining(tags))
    }
    expect(system.tags.filter(({ description }) => !description)).toEqual([])
  })

  it('has a body for every operation that writes by one, and for no other', () => {
    const BODILESS = ['GET', 'DELETE']
    const odd = restRoutes.filter(({ method, body }) => BODILESS.includes(method) === (body !== undefined))
    expect(odd.map(({ operationId }) => operationId)).toEqual([])
  })

  it('describes every component and every field of it', () => {
    const isDescribed = (schema: Schema): boolean =>
      schema.description !== undefined ||
      [schema, ...(schema.anyOf ?? [])].some(
        ({ $ref }) => $ref && (schemas[$ref.split('/').at(-1) ?? ''] as Schema).description,
      )
    const undescribed = Object.entries(schemas as Record<string, Schema>).flatMap(([name, schema]) => [
      ...(schema.description ? [] : [name]),
      ...Object.entries(schema.properties ?? {}).flatMap(([field, property]) =>
        isDescribed(property) ? [] : [`${name}.${field}`],
      ),
    ])
    expect(undescribed).toEqual([])
  })

  it('shows how keys of a client are given, by some that are taken, and says what becomes of its secret', () => {
    for (const name of ['ClientCreate', 'ClientPatch', 'Client']) {
      const schema = JSON.stringify(system.components.schemas[name])
      expect(schema).toContain('stays valid beside them')
      const { jwks } = (JSON.parse(schema) as { properties: Record<string, { examples?: unknown[] }> })
        .properties
      if (name !== 'ClientPatch') expect(jwkSet.parse(jwks?.examples?.[0])).toEqual(jwks?.examples?.[0])
    }
  })

  it('has examples that are as the document says, whole and field by field', async () => {
    const contract = await theContract()
    const faults: string[] = []
    const check = (place: string, example: unknown) =>
      faults.push(...contract.faultsAt(place, example).map((fault) => `${place}: ${fault}`))
    /** Walks what may hold schemas; `examples` beside a schema's keywords must fit it. */
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
    walk(system.paths, ['paths'])
    walk(system.components, ['components'])
    expect(faults).toEqual([])
    const examples = operationsOf(system).flatMap(({ name, operation }) =>
      [operation.requestBody, operation.responses['200'], operation.responses['201']].flatMap((part) => {
        const content = part && 'content' in part ? part.content : undefined
        return Object.entries(content ?? {}).map(([type, { example }]) => [name, type, example !== undefined])
      }),
    )
    expect(examples.filter(([, type, has]) => type === 'application/json' && !has)).toEqual([])
  })
})

describe('the specification', () => {
  const names = new Set(operationsOf(system).map(({ name }) => name))

  it.each(Object.entries(SPEC_OPERATIONS))('has the operation %s: %s', (_, name) => {
    expect(names).toContain(name)
  })
  it.each(FURTHER_OPERATIONS)('is completed by %s', (name) => {
    expect(names).toContain(name)
  })

  it.each(Object.entries(SPEC_FIELDS))('has the fields of %s, in their order', (name, fields) => {
    const { properties } = schemas[name] as Schema
    const ours = OUR_FIELDS[name] ?? []
    expect(Object.keys(properties ?? {}).filter((field) => !ours.includes(field))).toEqual(fields)
  })

  it('answers lists in its envelope', () => {
    for (const [path, name] of Object.entries(SPEC_LISTS)) {
      const answer = system.paths[path]?.get?.responses['200'] as {
        content: Record<string, { schema: Schema }>
      }
      expect([path, Object.keys(answer.content['application/json']?.schema.properties ?? {})]).toEqual([
        path,
        ['page', 'pageSize', 'totalSize', name],
      ])
    }
  })

  it('has no secret in what is read', () => {
    for (const name of ['Client', 'IdentityProvider', 'Session', 'Credential', 'User'])
      expect(
        Object.keys((schemas[name] as Schema).properties ?? {}).filter(
          (field) => /secret|signingKey|token$/i.test(field) && !field.startsWith('has'),
        ),
      ).toEqual([])
  })
})

describe('every answer that the tests see', () => {
  const requestId = 'trace-0123456789'
  const headers = () =>
    new Headers({
      'content-type': 'application/json',
      'x-request-id': requestId,
      'ratelimit-limit': '1',
      'ratelimit-remaining': '1',
      'ratelimit-reset': '1',
    })
  const example = (name: string) => {
    const answer = system.paths[name]?.get?.responses['200'] as {
      content: Record<string, { example: object }>
    }
    return answer.content['application/json']?.example as Record<string, unknown>
  }
  const exportedExample = () => {
    const answer = system.paths['/users/export']?.get?.responses['200'] as {
      content: Record<string, { example: object }>
    }
    return answer.content['application/x-ndjson']?.example as object
  }
  const seen = { method: 'GET', path: '/demo/api/v1/sessions/session_x', status: 200, headers: headers() }

  it('passes when it is as the document says', async () => {
    await checkAnswer({ ...seen, body: example('/sessions/{sessionId}') })
    await checkAnswer({ ...seen, method: 'HEAD', body: null })
    await checkAnswer({
      ...seen,
      status: 404,
      body: { message: 'No such session.', requestId, fields: [], code: 'NOT_FOUND' },
    })
  })

  it.each<[string, object, RegExp]>([
    [
      'an unknown member',
      { body: { ...example('/sessions/{sessionId}'), tokenHash: 'x' } },
      /additional.*tokenHash/,
    ],
    ['a missing member', { body: { id: 'session_x' } }, /required property 'userId'/],
    [
      'a value of another kind',
      { body: { ...example('/sessions/{sessionId}'), expiresAt: 7 } },
      /\/expiresAt must be string/,
    ],
    ['an undocumented status', { status: 418, body: {} }, /status 418 is not documented/],
    [
      'an undocumented media type',
      { headers: new Headers({ 'content-type': 'text/html' }), body: null },
      /media type text\/html/,
    ],
    [
      'a missing header',
      {
        headers: new Headers({ 'content-type': 'application/json' }),
        body: example('/sessions/{sessionId}'),
      },
      /has no header X-Request-Id/,
    ],
    [
      'an error of another shape',
      { status: 404, body: { message: 'No such session.' } },
      /required property 'code'/,
    ],
    [
      'an answer where no operation is',
      { path: '/demo/api/v1/nothing', body: {} },
      /status 200 where no operation is/,
    ],
  ])('fails for %s', async (_, change, message) => {
    await expect(checkAnswer({ ...seen, body: null, ...change })).rejects.toThrow(message)
  })

  it('fails for a body that was taken, though the document refuses it', async () => {
    const path = '/demo/api/v1/sessions/authenticate'
    const authenticated = { method: 'POST', path, status: 200, headers: headers() }
    const operation = system.paths['/sessions/authenticate']?.post
    const answer = operation?.responses['200'] as { content: Record<string, { example: object }> }
    const body = answer.content['application/json']?.example
    await checkAnswer({ ...authenticated, body, sent: { sessionToken: 'x', clientId: '' } })
    const refused = checkAnswer({ ...authenticated, body, sent: { sessionToken: 'x', why: 1 } })
    await expect(refused).rejects.toThrow(/was taken/)
  })

  it('of lines, fails at the line that is not as the document says', async () => {
    const answer = (...lines: object[]) =>
      checkResponse(
        '/demo/api/v1/users/export',
        undefined,
        new Response(lines.map((one) => `${JSON.stringify(one)}\n`).join(''), {
          headers: { ...Object.fromEntries(headers()), 'content-type': 'application/x-ndjson' },
        }),
      )
    const exported = exportedExample()
    expect((await (await answer(exported, exported)).text()).split('\n')).toHaveLength(3)
    const wrong = await answer(exported, { ...exported, passwordHash: 'x' })
    await expect(wrong.text()).rejects.toThrow(/passwordHash/)
  })
})
