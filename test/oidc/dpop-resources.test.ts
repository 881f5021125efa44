import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { connect } from 'node:net'
import { createClient } from 'graphql-ws'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { currentNonce, standingOfNonce } from '../../src/oidc/client-auth/dpop-nonces.ts'
import { apiAudienceOf } from '../../src/oidc/keys/keys.ts'
import { issueAccessToken } from '../../src/oidc/token/access-tokens.ts'
import { newTenant, TENANT_SCOPES } from '../support/actors.ts'
import { startApp, type TestApp } from '../support/app.ts'
import { type ClientKey, makeKey, makeProof } from '../support/proofs.ts'
import { openEventStream } from '../support/streams.ts'
import { makeClient } from './provider.ts'

const ORIGIN = 'https://admin.example.com'
const ALGS = 'algs="ES256 ES384 ES512 RS256 PS256 EdDSA Ed25519"'

let app: TestApp
let tenant: string
let clientId: string
let key: ClientKey
let otherKey: ClientKey
let bound: string
let bearer: string

beforeAll(async () => {
  app = await startApp()
  tenant = await newTenant()
  key = await makeKey()
  otherKey = await makeKey()
  const fields = { appType: 'machine', callbacks: [], scopes: TENANT_SCOPES, allowedOrigins: [ORIGIN] }
  clientId = (await makeClient(tenant, fields)).id
  bound = await tokenOf(tenant, key.thumbprint)
  bearer = await tokenOf(tenant, null)
})
afterAll(() => app.close())

const tokenOf = (of: string, dpopJkt: string | null): Promise<string> =>
  issueAccessToken(of, {
    subject: clientId,
    clientId,
    scopes: TENANT_SCOPES,
    audience: [apiAudienceOf(of)],
    lifetimeSeconds: 600,
    dpopJkt,
  })
const urlOf = (path: string) => `http://localhost:3000/${tenant}${path}`
const nonceOf = (minutesAgo: number) => currentNonce(new Date(Date.now() - minutesAgo * 60_000))

/** How one surface is called; both take tokens alike. */
type Surface = { path: string; method: string; init: RequestInit; headers: Record<string, string> }
const surfaces: Record<string, Surface> = {
  REST: { path: '/api/v1/users?pageSize=1', method: 'GET', init: {}, headers: {} },
  GraphQL: {
    path: '/graphql',
    method: 'POST',
    init: { body: '{"query":"{ users { page } }"}' },
    headers: { 'content-type': 'application/json' },
  },
  'GraphQL by GET': {
    path: '/graphql?query={users{page}}',
    method: 'GET',
    init: {},
    headers: { accept: 'application/json' },
  },
}

describe.each(Object.entries(surfaces))('%s (RFC 9449, section 7)', (_name, surface) => {
  const prove = (claims: object = {}, by = key, token = bound) =>
    makeProof(
      by,
      {
        method: surface.method,
        url: urlOf(surface.path.split('?')[0] as string),
        nonce: currentNonce(),
        token,
      },
      { claims },
    )
  const call = async (scheme: string, token: string, proof: string | null, more: object = {}) => {
    const response = await app.fetch(`/${tenant}${surface.path}`, {
      method: surface.method,
      headers: {
        ...surface.headers,
        authorization: `${scheme} ${token}`,
        ...(proof !== null && { dpop: proof }),
        ...more,
      },
      ...surface.init,
    })
    return {
      status: response.status,
      headers: response.headers,
      challenge: response.headers.get('www-authenticate') ?? '',
      nonce: response.headers.get('dpop-nonce'),
      body: await response.text(),
    }
  }

  test('takes a bound token with a proof, once, and a bearer token as ever', async () => {
    const proof = await prove()
    expect((await call('DPoP', bound, proof)).status).toBe(200)
    const again = await call('DPoP', bound, proof)
    expect(again).toMatchObject({
      status: 401,
      challenge: expect.stringMatching(
        `^DPoP error="invalid_dpop_proof", error_description="[^"]+", ${ALGS}$`,
      ),
    })
    expect((await call('Bearer', bearer, null)).status).toBe(200)
  })

  test('of 50 uses of one proof at once one is taken', async () => {
    const proof = await prove()
    const answers = await Promise.all(Array.from({ length: 50 }, () => call('DPoP', bound, proof)))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(49)
  })

  test('refuses a bound token as a bearer token, and a bearer token as a bound one', async () => {
    for (const proof of [null, await prove()]) {
      const answer = await call('Bearer', bound, proof)
      expect(answer).toMatchObject({
        status: 401,
        challenge: expect.stringContaining('DPoP error="invalid_token"'),
      })
      expect(answer.body).toContain('bound to a key')
    }
    const swapped = await call('DPoP', bearer, await prove({}, key, bearer))
    expect(swapped).toMatchObject({ status: 401 })
    expect(swapped.body).toContain('bound to no key')
  })

  test.each<[string, () => Promise<string> | string | null, string, string]>([
    ['no proof', () => null, 'invalid_dpop_proof', 'The header DPoP is missing.'],
    ['what is no JWT', () => 'abc', 'invalid_dpop_proof', 'The header DPoP holds no JWT.'],
    ['no ath', () => prove({ ath: undefined }), 'invalid_dpop_proof', 'The claim ath of'],
    ['the ath of another token', () => prove({}, key, bearer), 'invalid_dpop_proof', 'The claim ath of'],
    ['another method', () => prove({ htm: 'DELETE' }), 'invalid_dpop_proof', 'The claim htm of'],
    [
      'another path',
      () => prove({ htu: urlOf('/api/v1/clients') }),
      'invalid_dpop_proof',
      'The claim htu of',
    ],
    [
      'another tenant',
      () => prove({ htu: 'http://localhost:3000/other/graphql' }),
      'invalid_dpop_proof',
      'The claim htu of',
    ],
    ['the key of another', () => prove({}, otherKey), 'invalid_token', 'is not by the key that'],
    ['no nonce', () => prove({ nonce: undefined }), 'use_dpop_nonce', 'must have the nonce'],
    ['an expired nonce', () => prove({ nonce: nonceOf(7) }), 'use_dpop_nonce', 'must have the nonce'],
  ])('refuses a bound token with %s, and says what is wrong', async (_fault, make, error, words) => {
    const answer = await call('DPoP', bound, await make())
    expect(answer).toMatchObject({ status: 401, challenge: expect.stringContaining(`DPoP error="${error}"`) })
    expect(answer.challenge).toContain(words)
    expect(answer.body).toContain('UNAUTHENTICATED')
    expect(answer.body).toContain(words)
    expect(answer.nonce === null).toBe(error !== 'use_dpop_nonce')
  })

  test('hands out the next nonce before the last one runs out', async () => {
    const answer = await call('DPoP', bound, await prove({ nonce: nonceOf(3) }))
    expect(answer.status).toBe(200)
    expect(standingOfNonce(answer.nonce ?? '')).toBe('current')
  })

  test('lets the pages of its client’s origins send proofs, and read nonces', async () => {
    const answer = await call('DPoP', bound, await prove({ nonce: undefined }), { origin: ORIGIN })
    expect(answer.headers.get('access-control-allow-origin')).toBe(ORIGIN)
    expect(answer.headers.get('access-control-expose-headers')).toContain('dpop-nonce')
  })

  test('refuses a token that is wrong before its proof is looked at', async () => {
    const answer = await call('DPoP', `${bound.slice(0, -4)}AAAA`, await prove())
    expect(answer).toMatchObject({
      status: 401,
      challenge: expect.stringMatching(/^DPoP error="invalid_token"/),
    })
  })
})

test('what a bound token does not permit is told in its scheme (RFC 9449, section 7.1)', async () => {
  const reader = await issueAccessToken(tenant, {
    subject: clientId,
    clientId,
    scopes: ['clients:read'],
    audience: [apiAudienceOf(tenant)],
    lifetimeSeconds: 600,
    dpopJkt: key.thumbprint,
  })
  const url = urlOf('/api/v1/users')
  const dpop = await makeProof(key, { method: 'GET', url, nonce: currentNonce(), token: reader })
  const response = await app.fetch(`/${tenant}/api/v1/users`, {
    headers: { authorization: `DPoP ${reader}`, dpop },
  })
  expect([response.status, response.headers.get('www-authenticate')]).toEqual([
    403,
    `DPoP error="insufficient_scope", scope="users:read", ${ALGS}`,
  ])
})

test('an operator’s bound token works in other tenants, by proofs for them', async () => {
  const operator = await makeClient('system', {
    appType: 'machine',
    callbacks: [],
    scopes: ['users:read'],
    allTenants: true,
  })
  const token = await issueAccessToken('system', {
    subject: operator.id,
    clientId: operator.id,
    scopes: ['users:read'],
    audience: [apiAudienceOf('system')],
    lifetimeSeconds: 600,
    dpopJkt: key.thumbprint,
  })
  const url = urlOf('/api/v1/users')
  const dpop = await makeProof(key, { method: 'GET', url, nonce: currentNonce(), token })
  const response = await app.fetch(`/${tenant}/api/v1/users`, {
    headers: { authorization: `DPoP ${token}`, dpop },
  })
  expect(response.status).toBe(200)
})

const SUBSCRIPTION = 'subscription { userChanged { __typename } }'

test('an event stream is opened by one proof, and goes on', async () => {
  const url = `${app.origin}/${tenant}/graphql`
  const dpop = await makeProof(key, {
    method: 'POST',
    url: urlOf('/graphql'),
    nonce: currentNonce(),
    token: bound,
  })
  const headers = { authorization: `DPoP ${bound}`, dpop }
  const stream = await openEventStream(url, bound, SUBSCRIPTION, {}, headers)
  expect(stream.status).toBe(200)
  stream.close()
  const again = await openEventStream(url, bound, SUBSCRIPTION, {}, headers)
  expect(again.status).toBe(401)
  again.close()
})

describe('a WebSocket', () => {
  const url = () => `${app.origin.replace('http', 'ws')}/${tenant}/graphql`
  const prove = (claims: object = {}, by = key) =>
    makeProof(by, { method: 'GET', url: urlOf('/graphql'), nonce: currentNonce(), token: bound }, { claims })
  /** What a socket comes to: open, or closed with a code and a reason. */
  async function open(connectionParams: Record<string, unknown>) {
    const client = createClient({
      url: url(),
      webSocketImpl: WebSocket,
      retryAttempts: 0,
      lazy: false,
      onNonLazyError: () => undefined,
      connectionParams,
    })
    const outcome = await new Promise<{ code: number; reason: string }>((resolve) => {
      client.on('connected', () => resolve({ code: 101, reason: '' }))
      client.on('closed', (event) => resolve(event as { code: number; reason: string }))
    })
    return { client, code: outcome.code, reason: outcome.reason }
  }
  const opened = async (params: Record<string, unknown>) => {
    const { client, ...outcome } = await open(params)
    await client.dispose()
    return outcome
  }

  test('takes a bound token with a proof of the request that opened it, for all its operations', async () => {
    const { client, code } = await open({ authorization: `DPoP ${bound}`, dpop: await prove() })
    expect(code).toBe(101)
    for (let operation = 0; operation < 3; operation++) {
      const { value } = await client.iterate({ query: '{ users { page } }' }).next()
      expect(value).toMatchObject({ data: { users: { page: 0 } } })
    }
    await client.dispose()
  })

  test('takes each proof once', async () => {
    const params = { authorization: `DPoP ${bound}`, dpop: await prove() }
    expect(await opened(params)).toMatchObject({ code: 101 })
    expect(await opened(params)).toMatchObject({ code: 4403, reason: expect.stringContaining('proof') })
  })

  test('tells the nonce that it wants in its closing frame', async () => {
    const without = await prove({ nonce: undefined })
    const { code, reason } = await opened({ authorization: `DPoP ${bound}`, dpop: without })
    expect([code, reason]).toEqual([4403, expect.stringMatching(/^use_dpop_nonce /)])
    const nonce = reason.split(' ')[1]
    expect(await opened({ authorization: `DPoP ${bound}`, dpop: await prove({ nonce }) })).toMatchObject({
      code: 101,
    })
  })

  test.each<[string, () => Promise<Record<string, unknown>>]>([
    ['without a proof', async () => ({ authorization: `DPoP ${bound}` })],
    ['as a bearer token', async () => ({ authorization: `Bearer ${bound}`, dpop: await prove() })],
    [
      'with the proof of another key',
      async () => ({ authorization: `DPoP ${bound}`, dpop: await prove({}, otherKey) }),
    ],
    [
      'with the proof of another method',
      async () => ({ authorization: `DPoP ${bound}`, dpop: await prove({ htm: 'POST' }) }),
    ],
    [
      'with a proof for the socket’s own scheme',
      async () => ({
        authorization: `DPoP ${bound}`,
        dpop: await prove({ htu: urlOf('/graphql').replace('http', 'ws') }),
      }),
    ],
    ['that is none', async () => ({ authorization: `DPoP ${bearer}`, dpop: await prove() })],
  ])('refuses a bound token %s', async (_name, params) => {
    const { code, reason } = await opened(await params())
    expect(code).toBe(4403)
    expect(reason).not.toBe('')
  })
})

/** A frame of a client's (RFC 6455, section 5.2), of up to 64 KB: a text, or the end. */
function frame(opcode: 1 | 8, text = ''): Buffer {
  const [mask, body, long] = [randomBytes(4), Buffer.from(text), Buffer.alloc(2)]
  long.writeUInt16BE(body.length)
  const length = body.length < 126 ? [Buffer.from([0x80 | body.length])] : [Buffer.from([0x80 | 126]), long]
  const masked = body.map((byte, index) => byte ^ (mask[index % 4] as number))
  return Buffer.concat([Buffer.from([0x80 | opcode]), ...length, mask, masked])
}

describe('a refused WebSocket', () => {
  /** Goes on sending although the server has closed, which a browser's socket does for a moment and an attacker's for longer. */
  async function insist(params: object, origin: string | null, email: string): Promise<number> {
    const socket = connect(Number(new URL(app.origin).port), '127.0.0.1')
    const lines = [
      `GET /${tenant}/graphql HTTP/1.1`,
      'Host: localhost',
      'Connection: Upgrade',
      'Upgrade: websocket',
      'Sec-WebSocket-Version: 13',
      `Sec-WebSocket-Key: ${randomBytes(16).toString('base64')}`,
      'Sec-WebSocket-Protocol: graphql-transport-ws',
      ...(origin ? [`Origin: ${origin}`] : []),
    ]
    socket.write(`${lines.join('\r\n')}\r\n\r\n`)
    const [opened] = await once(socket, 'data')
    expect(String(opened)).toContain(' 101 ')
    socket.write(frame(1, JSON.stringify({ type: 'connection_init', payload: params })))
    const [closing] = (await once(socket, 'data')) as [Buffer]
    expect(closing[0]).toBe(0x88)
    const query = creationOf(email)
    for (const id of ['1', '2'])
      socket.write(frame(1, JSON.stringify({ type: 'subscribe', id, payload: { query } })))
    socket.end(frame(8))
    await once(socket.resume(), 'close')
    return closing.readUInt16BE(2)
  }
  const creationOf = (email: string) =>
    `mutation { createUser(input: { fields: { email: "${email}" } }) { __typename } }`
  const usersNamed = async (email: string) =>
    (await app.rest(tenant, bearer, 'GET', `/users?email=${email}`)).body.users

  test.each<[string, () => object, string | null]>([
    ['without the proof of its key', () => ({ authorization: `DPoP ${bound}` }), null],
    [
      'by a page of another client',
      () => ({ authorization: `Bearer ${bearer}` }),
      'https://else.example.com',
    ],
  ])('%s runs nothing (security 59)', async (name, params, origin) => {
    await makeClient(tenant, { allowedOrigins: ['https://else.example.com'] })
    const email = `${name.replaceAll(' ', '-')}@example.com`
    expect(await insist(params(), origin, email)).toBe(4403)
    // Whatever the socket had begun is over by the time that this, begun after its close, is.
    expect((await app.gql(tenant, bearer, creationOf(`late-${email}`))).body.errors).toBeUndefined()
    expect(await usersNamed(`late-${email}`)).toHaveLength(1)
    expect(await usersNamed(email)).toEqual([])
  })
})
