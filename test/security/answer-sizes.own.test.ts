import { request } from 'node:http'
import { describe, expect, vi } from 'vitest'
import { test } from '../support/fixtures.ts'
import { hasServices } from '../support/services.ts'

/** A request of a stranger. `path` follows the tenant. */
type StrangerRequest = {
  method?: string
  path: string
  headers?: Record<string, string>
  body?: string
}

/** The bytes of a whole response: the status line, the headers and the body. */
const measureAnswer = (
  origin: string,
  { method = 'GET', path, headers = {}, body }: StrangerRequest,
): Promise<number> =>
  new Promise((resolve, reject) => {
    const sent = request(
      `${origin}${path}`,
      { method, headers, agent: false, maxHeaderSize: 10_000_000 },
      (response) => {
        let bytes = response.rawHeaders.join('').length
        response.on('data', (chunk: Buffer) => {
          bytes += chunk.length
        })
        response.on('end', () => resolve(bytes))
        response.on('error', reject)
      },
    )
    sent.on('error', reject)
    sent.end(body)
  })

vi.hoisted(() => {
  process.env.RATE_LIMIT = '1000000'
})

/** What a header or the URL may have: Node accepts 16 KB of both. */
const LINE = 14_000
/** What a body may have. */
const BODY = 95_000
/** The bytes of the largest answer to a stranger. */
const MAX_ANSWER = 40_000

const list = (count: number, build: (index: number) => string, separator = ' '): string =>
  Array.from({ length: count }, (_, index) => build(index)).join(separator)

/** Texts that an answer could repeat, by their kind. */
const TEXTS: Record<string, (length: number) => string> = {
  'one long word': (length) => 'x'.repeat(length),
  'many words': (length) => list(length / 4, (index) => String(100 + (index % 900))),
  'many values': (length) => list(length / 4, (index) => String(100 + (index % 900)), ','),
  'characters to escape': (length) => '<&"'.repeat(length / 3),
}
const HEADERS = [
  'accept',
  'accept-language',
  'accept-encoding',
  'authorization',
  'content-type',
  'cookie',
  'dpop',
  'forwarded',
  'idempotency-key',
  'if-none-match',
  'last-event-id',
  'origin',
  'range',
  'referer',
  'user-agent',
  'x-forwarded-for',
  'x-request-id',
]
const PATHS = [
  '/graphql?query={viewer{scopes}}',
  '/api/v1/users',
  '/api/v1/nothing',
  '/oidc/authorize',
  '/oidc/userinfo',
  '/oidc/jwks',
  '/.well-known/openid-configuration',
  '/nothing',
]
const AUTHORIZE_PARAMETERS = [
  'client_id',
  'redirect_uri',
  'response_type',
  'response_mode',
  'scope',
  'state',
  'nonce',
  'prompt',
  'claims',
  'ui_locales',
  'acr_values',
  'login_hint',
  'id_token_hint',
  'max_age',
  'request',
  'request_uri',
  'resource',
  'code_challenge',
  'code_challenge_method',
  'dpop_jkt',
  'unknown',
]
const FORMS = [
  'token',
  'introspect',
  'revoke',
  'par',
  'device_authorization',
  'register',
  'authorize',
  'logout',
]
const FORM_PARAMETERS = [
  'grant_type',
  'client_id',
  'client_secret',
  'client_assertion',
  'client_assertion_type',
  'code',
  'code_verifier',
  'refresh_token',
  'token',
  'token_type_hint',
  'scope',
  'resource',
  'redirect_uri',
  'device_code',
]
/** Documents of a stranger, and the variables of the longest. */
const DOCUMENTS: Record<string, object> = {
  'a long unknown field': { query: `{ ${'u'.repeat(9500)} }` },
  'many unknown fields': { query: `{ ${list(50, (index) => `${'u'.repeat(180)}${index}`)} }` },
  'many fields without access': {
    query: `{ ${list(30, (index) => `${'a'.repeat(280)}${index}: viewer { scopes }`)} }`,
  },
  'a long string': { query: `{ node(id: "${'x'.repeat(9500)}") { id } }` },
  'a long text': { query: `{ ${'u'.repeat(BODY)} }` },
  'a long token that is not expected': { query: `{ viewer ${'}'.repeat(3)} ${'u'.repeat(9500)}` },
  'fields that conflict': {
    query: `{ ${list(14, (index) => `${'a'.repeat(600)}: node(id: "${index}") { id }`)} }`,
  },
  'a long operationName': { query: 'query A { viewer { scopes } }', operationName: 'x'.repeat(BODY) },
  'a long variable': {
    query: 'query ($v: Int) { users(first: $v) { totalSize } }',
    variables: { v: 'x'.repeat(BODY) },
  },
  'many unknown members': {
    query: 'query ($v: UserFilter) { users(filter: $v) { totalSize } }',
    variables: { v: Object.fromEntries(Array.from({ length: 1900 }, (_, index) => [`member${index}`, 1])) },
  },
  'a long unknown parameter': { query: '{ viewer { scopes } }', ['x'.repeat(BODY)]: 1 },
  'a long parameter of another type': { query: { text: 'x'.repeat(BODY) } },
}

type Case = [what: string, request: StrangerRequest]
const inForm = { 'content-type': 'application/x-www-form-urlencoded' }

function* listCases(): Generator<Case> {
  for (const [kind, build] of Object.entries(TEXTS)) {
    for (const path of PATHS)
      for (const header of HEADERS)
        yield [`${path} ${header}: ${kind}`, { path, headers: { [header]: build(LINE) } }]
    const value = encodeURIComponent(build(LINE / 3)).slice(0, LINE)
    for (const name of AUTHORIZE_PARAMETERS)
      yield [`/oidc/authorize ${name}: ${kind}`, { path: `/oidc/authorize?${name}=${value}` }]
    for (const name of ['query', 'variables', 'extensions', 'operationName', 'unknown'])
      yield [`/graphql ${name}: ${kind}`, { path: `/graphql?${name}=${value}` }]
    for (const path of [
      '/api/v1/users?',
      '/api/v1/users?filter=',
      '/api/v1/',
      '/oidc/',
      '/',
      '/oidc/logout?state=',
    ])
      yield [`${path}: ${kind}`, { path: `${path}${value}` }]
    for (const form of FORMS)
      for (const name of FORM_PARAMETERS)
        yield [
          `POST /oidc/${form} ${name}: ${kind}`,
          {
            method: 'POST',
            path: `/oidc/${form}`,
            headers: inForm,
            body: `${name}=${encodeURIComponent(build(BODY)).slice(0, BODY)}`,
          },
        ]
  }
  const names = list(1900, (index) => `p${index}=1`, '&')
  for (const form of FORMS)
    yield [
      `POST /oidc/${form} with many names`,
      { method: 'POST', path: `/oidc/${form}`, headers: inForm, body: names },
    ]
  yield ['/oidc/authorize with many names', { path: `/oidc/authorize?${names}` }]
  yield ['/api/v1/users with many names', { path: `/api/v1/users?${names}` }]
  const json = { 'content-type': 'application/json' }
  for (const [what, params] of Object.entries(DOCUMENTS))
    yield [
      `/graphql: ${what}`,
      { method: 'POST', path: '/graphql', headers: json, body: JSON.stringify(params) },
    ]
  const members = JSON.stringify(
    Object.fromEntries(Array.from({ length: 5000 }, (_, index) => [`member${index}`, 1])),
  )
  for (const path of ['/api/v1/users', '/oidc/register'])
    yield [`POST ${path} with many members`, { method: 'POST', path, headers: json, body: members }]
}

describe.runIf(hasServices)('an answer to a stranger', () => {
  test('has at most 40 KB, whatever the request has', async ({ app, tenant }) => {
    const larger: [string, number][] = []
    for (const [what, request] of listCases()) {
      const bytes = await measureAnswer(app.origin, { ...request, path: `/${tenant}${request.path}` })
      if (bytes > MAX_ANSWER) larger.push([what, bytes])
    }
    expect(larger).toEqual([])
  })
})
