import { createPublicKey } from 'node:crypto'
import { exportJWK, exportSPKI, generateKeyPair, importJWK, SignJWT, UnsecuredJWT } from 'jose'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'

import { newId } from '../src/crypto.ts'
import { platformCtx } from '../src/ctx.ts'
import { sql } from '../src/db.ts'
import { countIdpUsers, getIdpUser, listIdpUsers } from '../src/idps/idp-users.ts'
import { createIdentityProvider, updateIdentityProvider } from '../src/idps/idps.ts'
import { addIdpUser, linkIdpUser, unlinkIdpUser } from '../src/idps/link-idp-user.ts'
import { createUser, lockUser } from '../src/users/users.ts'
import { ctxFor, newTenant, tokenFor } from './support/actors.ts'
import { logOf } from './support/events.ts'
import { countStatements } from './support/statements.ts'
import { openSurfaces, type Surfaces } from './support/surfaces.ts'
import { startUpstream, type Upstream } from './support/upstream.ts'

let surfaces: Surfaces
let upstream: Upstream
let tenant: string
let token: string

beforeAll(async () => {
  surfaces = await openSurfaces()
  upstream = await startUpstream()
  tenant = await newTenant()
  token = await tokenFor(tenant)
})
afterAll(async () => {
  upstream.close()
  await surfaces.close()
})
beforeEach(() => {
  upstream.before.clear()
  upstream.asked.length = 0
})

// biome-ignore lint/suspicious/noExplicitAny: what a test asks for decides the shape
type Any = any
type Outcome = Record<string, Any>
type Options = { token?: string }

async function rest(method: string, path: string, body?: unknown, options: Options = {}): Promise<Outcome> {
  const answer = await surfaces.rest(tenant, options.token ?? token, method, `/users/${path}`, body)
  const { requestId: _, ...told } = answer.body
  return { ...told, status: answer.status }
}

const FIELDS = 'idpId userId externalId metadata lastLoginAt updatedAt createdAt'
const STATUS: Record<string, number> = {
  BAD_USER_INPUT: 400,
  FORBIDDEN: 403,
  NOT_FOUND: 404,
  CONFLICT: 409,
  UNAVAILABLE: 503,
}
async function gql(field: string, input: object, selection: string, options: Options = {}): Promise<Outcome> {
  const { body } = await surfaces.gql(
    tenant,
    options.token ?? token,
    `mutation ($input: ${field.charAt(0).toUpperCase()}${field.slice(1)}Input!) { result: ${field}(input: $input) {
      ${selection} ... on UserError { code message } ... on ValidationError { fields { field description } }
      ${field === 'unlinkIdpUser' ? '' : '... on ConflictError { fields { field description } }'} } }`,
    { input },
  )
  const { idpUser, ...result } = body.data?.result ?? {
    code: body.errors?.[0]?.extensions.code,
    message: body.errors?.[0]?.message,
    fields: body.errors?.[0]?.extensions.fields ?? [],
  }
  const status = STATUS[result.code] ?? 200
  return idpUser ? { ...idpUser, status } : { fields: [], ...result, status }
}

/** The same operations through both surfaces. */
const writers = [
  {
    surface: 'REST',
    add: (userId: string, idpId: string, body: object, options?: Options) =>
      rest('POST', `${userId}/idps/${idpId}`, body, options),
    link: (userId: string, idpId: string, body: object, options?: Options) =>
      rest('PUT', `${userId}/idps/${idpId}`, body, options),
    unlink: (userId: string, idpId: string, options?: Options) =>
      rest('DELETE', `${userId}/idps/${idpId}`, undefined, options),
    get: (userId: string, idpId: string) => rest('GET', `${userId}/idps/${idpId}`),
  },
  {
    surface: 'GraphQL',
    add: async (userId: string, idpId: string, body: object, options?: Options) => {
      const done = await gql(
        'addIdpUser',
        { userId, idpId, ...body },
        `... on IdpUserPayload { idpUser { ${FIELDS} } }`,
        options,
      )
      return done.status === 200 ? { ...done, status: 201 } : done
    },
    link: (userId: string, idpId: string, body: object, options?: Options) =>
      gql(
        'linkIdpUser',
        { userId, idpId, ...body },
        `... on IdpUserPayload { idpUser { ${FIELDS} } }`,
        options,
      ),
    unlink: async (userId: string, idpId: string, options?: Options) => {
      const { unlinkedIdpUserId, user, ...told } = await gql(
        'unlinkIdpUser',
        { userId, idpId },
        '... on UnlinkIdpUserPayload { unlinkedIdpUserId user { id } }',
        options,
      )
      if (!unlinkedIdpUserId) return told
      expect(user).toEqual({ id: userId })
      return { ...told, message: 'The link was removed.' }
    },
    get: async (userId: string, idpId: string) => {
      const { body } = await surfaces.gql(
        tenant,
        token,
        `{ idpUser(userId: "${userId}", idpId: "${idpId}") { ${FIELDS} } }`,
      )
      return body.data.idpUser ? { ...body.data.idpUser, status: 200 } : { code: 'NOT_FOUND', status: 404 }
    },
  },
]
type Writer = (typeof writers)[number]

let names = 0
/** An identity provider of the tenant; by default the upstream one, found through its issuer alone. */
async function idp(fields: object = {}): Promise<string> {
  const id = `up-${++names}`
  const { id: made } = await createIdentityProvider(platformCtx(tenant), {
    id,
    type: 'oidc',
    name: 'Upstream',
    issuer: upstream.issuer,
    ...upstream.client,
    ...fields,
  })
  return made
}
const person = async (roles: string[] = []): Promise<string> => {
  const { id } = await createUser(platformCtx(tenant), {})
  if (roles.length > 0)
    await sql(`UPDATE "User" SET "roles" = $3 WHERE "tenantId" = $1 AND "id" = $2`, [tenant, id, roles])
  return id
}
const eventsOf = async (userId: string) =>
  (await logOf(tenant))
    .filter((event) => event.userId === userId && event.type.startsWith('idpuser.'))
    .map(({ type, subjectIds, changedFields }) => ({ type, subjectIds, changedFields }))
const storedOf = async (userId: string) =>
  sql<{ id: string; issuer: string; byManagement: boolean }>(
    `SELECT "id", "issuer", "byManagement" FROM "IdpUser" WHERE "tenantId" = $1 AND "userId" = $2`,
    [tenant, userId],
  )
const refusal = (field: string, description: string) => ({
  status: 400,
  code: 'BAD_USER_INPUT',
  message: 'The request has invalid fields.',
  fields: [{ field, description }],
})
const taken = (field: string, description: string, message: string) => ({
  status: 409,
  code: 'CONFLICT',
  message,
  fields: [{ field, description }],
})
const TAKEN_IDENTITY = taken(
  'externalId',
  'is linked to another user',
  'The identity is linked to another user.',
)
const TAKEN_USER = taken(
  'idpId',
  'is a provider that the user is linked to already',
  'The user is linked to another identity of this provider.',
)
const now = () => Math.floor(Date.now() / 1000)
/** Claims of a good ID token for our client. */
const claims = (subject: string, more: object = {}) => ({
  iss: upstream.issuer,
  aud: 'vestibule',
  sub: subject,
  iat: now(),
  exp: now() + 300,
  ...more,
})

describe.each(writers)('adding a link over $surface', ({ add, get }: Writer) => {
  it('takes the word of the caller, and asks nobody', async () => {
    const [userId, idpId] = [await person(), await idp()]
    const link = await add(userId, idpId, { externalId: 'e-1', metadata: { tier: 'gold' } })
    expect(link).toEqual({
      status: 201,
      idpId,
      userId,
      externalId: 'e-1',
      metadata: { tier: 'gold' },
      lastLoginAt: null,
      updatedAt: expect.any(String),
      createdAt: expect.any(String),
    })
    expect(await get(userId, idpId)).toEqual({ ...link, status: 200 })
    const [stored] = await storedOf(userId)
    expect(stored).toMatchObject({ byManagement: true, issuer: upstream.issuer })
    expect(await eventsOf(userId)).toEqual([
      { type: 'idpuser.added', subjectIds: [stored?.id, idpId], changedFields: [] },
    ])
    expect(upstream.asked).toEqual([])
  })

  it('says what is taken: the identity by another user, or the user by another identity', async () => {
    const [userId, other, idpId] = [await person(), await person(), await idp()]
    await add(userId, idpId, { externalId: 'one' })
    expect(await add(other, idpId, { externalId: 'one' })).toEqual(TAKEN_IDENTITY)
    expect(await add(userId, idpId, { externalId: 'two' })).toEqual(TAKEN_USER)
    expect(await add(userId, idpId, { externalId: 'one' })).toEqual(TAKEN_USER)
    // The same identifier at another provider is somebody else.
    expect(await add(other, await idp(), { externalId: 'one' })).toMatchObject({ status: 201 })
  })

  it('names what is wrong with the input', async () => {
    const [userId, idpId] = [await person(), await idp()]
    expect(await add(userId, idpId, { externalId: '' })).toEqual(refusal('externalId', 'must not be empty'))
    expect(await add(userId, idpId, { externalId: 'x'.repeat(256) })).toMatchObject({ status: 400 })
    expect(await add(userId, idpId, { externalId: 'a\u0000b' })).toMatchObject({ status: 400 })
  })

  it('a locked user can be linked, and stays locked', async () => {
    const [userId, idpId] = [await person(), await idp()]
    await lockUser(platformCtx(tenant), userId)
    expect(await add(userId, idpId, { externalId: 'locked' })).toMatchObject({ status: 201 })
  })
})

describe.each(writers)(
  'whom and what $surface does not know',
  ({ surface, add, link, unlink, get }: Writer) => {
    const malformed = surface === 'REST' ? 'NOT_FOUND' : 'BAD_USER_INPUT'
    it('is not there', async () => {
      const [userId, idpId] = [await person(), await idp()]
      const nobody = newId('user')
      const proof = { idToken: 'x' }
      expect(await add(nobody, idpId, { externalId: 'x' })).toMatchObject({ message: 'No such user.' })
      expect(await link(nobody, idpId, proof)).toMatchObject({ message: 'No such user.' })
      expect(await unlink(nobody, idpId)).toMatchObject({ message: 'No such user.' })
      expect(await add(userId, 'nothing', { externalId: 'x' })).toMatchObject({
        message: 'No such identity provider.',
      })
      expect(await link(userId, 'nothing', proof)).toMatchObject({ message: 'No such identity provider.' })
      expect(await unlink(userId, idpId)).toMatchObject({ message: 'No such link.' })
      expect(await get(userId, idpId)).toMatchObject({ status: 404 })
      expect(await add(newId('client'), idpId, { externalId: 'x' })).toMatchObject({ code: malformed })
      expect(await link(userId, newId('user'), proof)).toMatchObject({ code: malformed })
      expect(upstream.asked).toEqual([])
    })
  },
)

describe.each(writers)('linking by an ID token over $surface', ({ link }: Writer) => {
  it('checks it with the keys that the issuer publishes, and keeps the claims as metadata', async () => {
    const [userId, idpId] = [await person(), await idp()]
    const { idToken } = await upstream.tokensFor(`ada-${names}`, { nonce: 'the relying party compared it' })
    const linked = await link(userId, idpId, { idToken })
    expect(linked).toEqual({
      status: 200,
      idpId,
      userId,
      externalId: `ada-${names}`,
      metadata: {
        sub: `ada-${names}`,
        name: `Person ada-${names}`,
        email: `ada-${names}@upstream.example`,
        email_verified: false,
      },
      lastLoginAt: expect.any(String),
      updatedAt: expect.any(String),
      createdAt: expect.any(String),
    })
    const [stored] = await storedOf(userId)
    expect(stored).toMatchObject({ issuer: upstream.issuer, byManagement: true })
    expect(await eventsOf(userId)).toEqual([
      { type: 'idpuser.linked', subjectIds: [stored?.id, idpId], changedFields: [] },
    ])
  })

  it('with a pinned key, nothing is asked', async () => {
    const key = upstream.publicJwks.find(({ alg }) => alg === 'ES256')
    const pem = String(
      createPublicKey({ key: key as Any, format: 'jwk' }).export({ format: 'pem', type: 'spki' }),
    )
    const [userId, idpId] = [await person(), await idp({ idTokenSigningKey: pem })]
    expect(await link(userId, idpId, { idToken: await upstream.sign(claims(`pin-${idpId}`)) })).toMatchObject(
      {
        status: 200,
      },
    )
    const rsa = await upstream.sign(claims('x'), { alg: 'RS256' })
    expect(await link(userId, idpId, { idToken: rsa })).toEqual(
      refusal('idToken', 'is not signed by the provider'),
    )
    expect(upstream.asked).toEqual([])
  })

  it('the same identity again is the same link: lastLoginAt moves, updatedAt only with what it says', async () => {
    const [userId, idpId] = [await person(), await idp()]
    const as = async (more: object = {}) =>
      link(userId, idpId, { idToken: await upstream.sign(claims(`again-${idpId}`, more)) })
    const first = await as({ name: 'Ada' })
    const second = await as({ name: 'Ada' })
    expect(second).toEqual({ ...first, lastLoginAt: expect.any(String) })
    expect(Date.parse(second.lastLoginAt)).toBeGreaterThanOrEqual(Date.parse(first.lastLoginAt))
    const third = await as({ name: 'Ada King' })
    expect(third.metadata).toEqual({ sub: `again-${idpId}`, name: 'Ada King' })
    expect(Date.parse(third.updatedAt)).toBeGreaterThan(Date.parse(first.updatedAt))
    expect(await eventsOf(userId)).toMatchObject([
      { type: 'idpuser.linked' },
      { type: 'idpuser.updated', changedFields: ['metadata'] },
    ])
    expect(await storedOf(userId)).toHaveLength(1)
  })

  it('says what is taken, and changes nothing', async () => {
    const [userId, other, idpId] = [await person(), await person(), await idp()]
    const idToken = await upstream.sign(claims(`one-${idpId}`))
    await link(userId, idpId, { idToken })
    expect(await link(other, idpId, { idToken })).toEqual(TAKEN_IDENTITY)
    expect(await link(userId, idpId, { idToken: await upstream.sign(claims(`two-${idpId}`)) })).toEqual(
      TAKEN_USER,
    )
    expect(await storedOf(other)).toEqual([])
    expect(await getIdpUser(platformCtx(tenant), userId, idpId)).toMatchObject({ externalId: `one-${idpId}` })
  })

  it('proves what an administrator had added', async () => {
    const [userId, idpId] = [await person(), await idp()]
    const added = await addIdpUser(platformCtx(tenant), userId, idpId, { externalId: `add-${idpId}` })
    const linked = await link(userId, idpId, { idToken: await upstream.sign(claims(`add-${idpId}`)) })
    expect(linked).toMatchObject({ status: 200, lastLoginAt: expect.any(String) })
    expect(await storedOf(userId)).toMatchObject([{ id: added.id, byManagement: true }])
  })

  it('security 13: an e-mail address links nobody, verified or not', async () => {
    const victim = await createUser(platformCtx(tenant), {
      email: `victim-${names}@example.com`,
      emailVerified: true,
    })
    const [userId, idpId] = [await person(), await idp()]
    const idToken = await upstream.sign(
      claims(`attacker-${idpId}`, { email: victim.email, email_verified: true }),
    )
    expect(await link(userId, idpId, { idToken })).toMatchObject({ userId, externalId: `attacker-${idpId}` })
    expect(await countIdpUsers(platformCtx(tenant), victim.id)).toBe(0)
    expect((await surfaces.rest(tenant, token, 'GET', `/users/${userId}`)).body).toMatchObject({
      email: null,
      emailVerified: false,
    })
  })
})

describe('ID tokens that prove nothing', () => {
  const { link } = writers[0] as Writer
  /** The answer to a token; none of them may write anything. */
  async function refused(idToken: string, fields: object = {}) {
    const [userId, idpId] = [await person(), await idp(fields)]
    const answer = await link(userId, idpId, { idToken })
    expect(await storedOf(userId)).toEqual([])
    expect(JSON.stringify(answer)).not.toContain(idToken)
    return answer
  }
  const NOT_SIGNED = refusal('idToken', 'is not signed by the provider')
  const OTHER_CLIENT = refusal('idToken', 'was issued to another client')

  it('of another client of the same provider', async () => {
    const { idToken } = await upstream.tokensFor('eve', { clientId: 'another' })
    expect(await refused(idToken)).toEqual(OTHER_CLIENT)
    expect(await refused(await upstream.sign(claims('eve', { aud: ['another', 'third'] })))).toEqual(
      OTHER_CLIENT,
    )
    for (const azp of [undefined, 'another'])
      expect(
        await refused(await upstream.sign(claims('eve', { aud: ['vestibule', 'another'], azp }))),
      ).toEqual(OTHER_CLIENT)
  })

  it('expired, without an end, or not valid yet', async () => {
    expect(await refused(await upstream.sign(claims('eve', { iat: now() - 600, exp: now() - 120 })))).toEqual(
      refusal('idToken', 'has expired'),
    )
    expect(await refused(await upstream.sign(claims('eve', { exp: undefined })))).toEqual(
      refusal('idToken', 'has a wrong or no claim exp'),
    )
    expect(await refused(await upstream.sign(claims('eve', { nbf: now() + 600 })))).toEqual(
      refusal('idToken', 'has a wrong or no claim nbf'),
    )
  })

  it('of another issuer, by its own key or by ours', async () => {
    const other = await startUpstream()
    try {
      const { idToken } = await other.tokensFor('eve')
      expect(await refused(idToken)).toEqual(NOT_SIGNED)
      expect(await refused(await other.sign(claims('eve')))).toEqual(NOT_SIGNED)
      expect(await refused(await upstream.sign(claims('eve', { iss: other.issuer })))).toEqual(
        refusal('idToken', 'was issued by somebody else'),
      )
      expect(await refused(await upstream.sign(claims('eve', { iss: undefined })))).toEqual(
        refusal('idToken', 'has a wrong or no claim iss'),
      )
    } finally {
      other.close()
    }
  })

  it('security 34: unsigned, or signed by an HMAC under the public key or the client secret', async () => {
    const jwk = upstream.publicJwks[0] as Any
    const hmac = (secret: string) =>
      new SignJWT(claims('eve'))
        .setProtectedHeader({ alg: 'HS256', kid: jwk.kid })
        .sign(new TextEncoder().encode(secret.padEnd(32)))
    const pem = await exportSPKI((await importJWK(jwk)) as CryptoKey)
    const { idToken } = await upstream.tokensFor('eve')
    const [header = '', body = '', signature = ''] = idToken.split('.')
    for (const forged of [
      new UnsecuredJWT(claims('eve')).encode(),
      await hmac(pem),
      await hmac(JSON.stringify(jwk)),
      await hmac(upstream.client.clientSecret),
      `${header}.${body}.`,
      `${header}.${Buffer.from(JSON.stringify(claims('victim'))).toString('base64url')}.${signature}`,
      'no token',
      `${header}.${body}`,
    ])
      expect(await refused(forged)).toEqual(NOT_SIGNED)
  })

  it('signed by a key that the token brings itself', async () => {
    const { privateKey, publicKey } = await generateKeyPair('ES256')
    const jwk = await exportJWK(publicKey)
    for (const header of [
      { jwk },
      { jku: `${upstream.issuer}/evil` },
      { kid: 'upstream-ES256' },
      { kid: 'unknown' },
    ]) {
      const forged = await new SignJWT(claims('eve'))
        .setProtectedHeader({ alg: 'ES256', ...header } as Any)
        .sign(privateKey)
      expect(await refused(forged)).toEqual(NOT_SIGNED)
    }
    expect(upstream.asked).not.toContain('/evil')
  })

  it('by another algorithm than the one that the provider is to use', async () => {
    const { idToken } = await upstream.tokensFor('eve')
    expect(await refused(idToken, { idTokenSigningAlg: 'ES256' })).toEqual(NOT_SIGNED)
  })

  it('an access token in the form of a JWT', async () => {
    expect(await refused(await upstream.sign(claims('eve'), { typ: 'at+jwt' }))).toEqual(
      refusal('idToken', 'is no ID token'),
    )
  })

  it('where nothing is configured to check it with', async () => {
    const idToken = await upstream.sign(claims('eve'))
    expect(await refused(idToken, { clientId: null, issuer: null })).toEqual(
      refusal('idToken', 'cannot be checked: the provider has no issuer'),
    )
    expect(await refused(idToken, { clientId: null })).toEqual(
      refusal('idpId', 'is a provider without a clientId, which proves nothing'),
    )
  })
})

describe.each(writers)('linking by an access token over $surface', ({ link }: Writer) => {
  it('uses it at the userinfo endpoint', async () => {
    const [userId, idpId] = [await person(), await idp()]
    const { accessToken } = await upstream.tokensFor(`bob-${idpId}`)
    expect(await link(userId, idpId, { accessToken })).toMatchObject({
      status: 200,
      externalId: `bob-${idpId}`,
      metadata: { email: `bob-${idpId}@upstream.example`, email_verified: false },
    })
    // The same person by an ID token is the same identity.
    const { idToken } = await upstream.tokensFor(`bob-${idpId}`)
    expect(await link(userId, idpId, { idToken })).toMatchObject({ status: 200 })
    expect(await link(await person(), idpId, { idToken })).toEqual(TAKEN_IDENTITY)
  })

  it('refuses what the provider refuses, and what it gave to another client', async () => {
    const [userId, idpId] = [await person(), await idp()]
    const { accessToken } = await upstream.tokensFor('eve', { clientId: 'another' })
    expect(await link(userId, idpId, { accessToken: 'made up' })).toEqual(
      refusal('accessToken', 'is not accepted by the provider'),
    )
    expect(await link(userId, idpId, { accessToken })).toEqual(
      refusal('accessToken', 'was issued to another client'),
    )
    expect(await storedOf(userId)).toEqual([])
  })
})

describe.each(writers)(
  'linking by an access token in the form of a JWT over $surface',
  ({ link }: Writer) => {
    // Where the provider cannot be asked: a client without a secret introspects nothing.
    it('refuses one that says to be of another client', async () => {
      const [userId, idpId] = [await person(), await idp({ clientSecret: null })]
      upstream.before.set('/me', (_request, response) => {
        response.setHeader('content-type', 'application/json').end('{"sub": "eve"}')
        return true
      })
      for (const named of ['client_id', 'azp']) {
        const accessToken = await upstream.sign({ sub: 'eve', [named]: 'another' }, { typ: 'at+jwt' })
        expect(await link(userId, idpId, { accessToken })).toEqual(
          refusal('accessToken', 'was issued to another client'),
        )
      }
      upstream.before.delete('/me')
      expect(await storedOf(userId)).toEqual([])
    })
  },
)

describe.each(writers)('linking by a code over $surface', ({ link }: Writer) => {
  it('redeems it as our client, and checks the ID token that it gets', async () => {
    const [userId, idpId] = [await person(), await idp()]
    const proof = await upstream.codeFor(`carl-${idpId}`)
    expect(await link(userId, idpId, proof)).toMatchObject({ status: 200, externalId: `carl-${idpId}` })
    expect(upstream.asked.filter((path) => path === '/token')).toHaveLength(1)
  })

  it('refuses a code that was used, is another client’s, or comes with a wrong verifier or redirect', async () => {
    const [userId, idpId] = [await person(), await idp()]
    const REFUSED = refusal('code', 'is not accepted by the provider: invalid_grant')
    const used = await upstream.codeFor(`once-${idpId}`)
    const other = await person()
    expect(await link(userId, idpId, used)).toMatchObject({ status: 200 })
    expect(await link(userId, idpId, used)).toEqual(REFUSED)
    for (const wrong of [
      await upstream.codeFor('eve', { clientId: 'another' }),
      { ...(await upstream.codeFor('eve')), codeVerifier: 'x'.repeat(43) },
      { ...(await upstream.codeFor('eve')), redirectUri: 'https://evil.example/callback' },
      { code: 'made up', redirectUri: upstream.redirectUri },
    ])
      expect(await link(other, idpId, wrong)).toEqual(REFUSED)
    expect(await storedOf(other)).toEqual([])
  })

  it('says when the provider does not know our client, and repeats no other words of its', async () => {
    const [userId, idpId] = [await person(), await idp({ clientSecret: 'wrong' })]
    const proof = await upstream.codeFor('eve')
    const answer = await link(userId, idpId, proof)
    expect(answer).toEqual(refusal('code', 'is not accepted by the provider: invalid_client'))
  })
})

describe.each(writers)('the proof over $surface', ({ link }: Writer) => {
  it('is exactly one', async () => {
    const [userId, idpId] = [await person(), await idp()]
    const field = async (body: object) =>
      (await link(userId, idpId, body)).fields.map((fault: Any) => [fault.field, fault.description])
    expect(await field({})).toEqual([['idToken', 'is required, or else accessToken or code']])
    expect(await field({ idToken: '' })).toEqual([['idToken', 'is required, or else accessToken or code']])
    expect(await field({ idToken: 'a', accessToken: 'b', code: 'c' })).toEqual([
      ['accessToken', 'cannot be combined with idToken'],
      ['code', 'cannot be combined with idToken'],
    ])
    expect(await field({ idToken: 'a', redirectUri: 'https://a.example', codeVerifier: 'x' })).toEqual([
      ['redirectUri', 'goes with a code only'],
      ['codeVerifier', 'goes with a code only'],
    ])
    expect(await field({ code: 'a', redirectUri: 'javascript:alert(1)' })).toEqual([
      ['redirectUri', 'must be an http or https URL'],
    ])
    expect(upstream.asked).toEqual([])
  })
})

describe.each(writers)('no escalation over $surface', ({ add, link, unlink }: Writer) => {
  it('security 16: whoever may less than the user touches none of their links, and asks nobody', async () => {
    const [userId, idpId] = [await person(['support']), await idp()]
    const narrow = { token: await tokenFor(tenant, ['idps:read', 'idps:write', 'users:read']) }
    await addIdpUser(platformCtx(tenant), userId, idpId, { externalId: `own-${idpId}` })
    const second = await idp()
    const idToken = await upstream.sign(claims('eve'))
    upstream.asked.length = 0
    expect(await add(userId, second, { externalId: 'eve' }, narrow)).toMatchObject({ code: 'FORBIDDEN' })
    expect(await link(userId, second, { idToken }, narrow)).toMatchObject({ code: 'FORBIDDEN' })
    expect(await unlink(userId, idpId, narrow)).toMatchObject({ code: 'FORBIDDEN' })
    expect(upstream.asked).toEqual([])
    expect(await storedOf(userId)).toHaveLength(1)
    expect(await unlink(userId, idpId)).toMatchObject({ status: 200 })
    expect(await add(await person(), second, { externalId: 'anybody' }, narrow)).toMatchObject({
      status: 201,
    })
  })
})

describe.each(writers)('unlinking over $surface', ({ add, unlink, get }: Writer) => {
  it('ends the link; who comes next may have the identity', async () => {
    const [userId, other, idpId] = [await person(), await person(), await idp()]
    await add(userId, idpId, { externalId: 'moves' })
    const [stored] = await storedOf(userId)
    expect(await unlink(userId, idpId)).toEqual({ status: 200, message: 'The link was removed.', fields: [] })
    expect(await get(userId, idpId)).toMatchObject({ status: 404 })
    expect(await unlink(userId, idpId)).toMatchObject({ status: 404, code: 'NOT_FOUND' })
    expect((await eventsOf(userId)).at(-1)).toEqual({
      type: 'idpuser.unlinked',
      subjectIds: [stored?.id, idpId],
      changedFields: [],
    })
    expect(await add(other, idpId, { externalId: 'moves' })).toMatchObject({ status: 201 })
  })
})

describe('a provider that does not answer as it should', () => {
  const { link } = writers[0] as Writer
  const UNAVAILABLE = {
    status: 503,
    code: 'UNAVAILABLE',
    message: 'The identity provider could not be asked, or gave no proper answer; try again.',
    fields: [],
  }
  const answering = (status: number, body: string) => (_request: unknown, response: Any) => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(body)
    return true
  }

  it('is unavailable: not there, failing, overloaded, or talking nonsense', async () => {
    const { accessToken } = await upstream.tokensFor('dan')
    const attempt = async (fields: object = {}, proof: object = { accessToken }) => {
      const userId = await person()
      const answer = await link(userId, await idp(fields), proof)
      expect(await storedOf(userId)).toEqual([])
      return answer
    }
    expect(await attempt({ userInfoEndpoint: 'http://127.0.0.1:9/' })).toEqual(UNAVAILABLE)
    for (const [status, body] of [
      [500, 'oops'],
      [503, '{}'],
      [429, '{}'],
      [200, 'no json'],
      [200, '[]'],
      [200, '{}'],
      [200, '{"sub":""}'],
      [200, '{"sub":7.5}'],
      [302, ''],
    ] as const) {
      upstream.before.set('/me', answering(status, body))
      const answer = await attempt()
      expect([status, body, answer]).toEqual([status, body, UNAVAILABLE])
    }
    upstream.before.set('/token', answering(502, ''))
    const proof = await upstream.codeFor('dan')
    const answer = await attempt({}, proof)
    expect(answer).toEqual(UNAVAILABLE)
    for (const secret of [proof.code, upstream.client.clientSecret])
      expect(JSON.stringify(answer)).not.toContain(secret)
  })

  it('is so for keys and metadata, too, and none of it is remembered', async () => {
    const other = await startUpstream()
    try {
      const of = { issuer: other.issuer }
      const [userId, idpId] = [await person(), await idp(of)]
      const idToken = await other.sign({ ...claims('dan'), iss: other.issuer })
      const metadata = '/.well-known/openid-configuration'
      for (const body of [
        '{}',
        JSON.stringify({ issuer: upstream.issuer, jwks_uri: `${other.issuer}/jwks` }),
      ]) {
        other.before.set(metadata, answering(200, body))
        expect(await link(userId, idpId, { idToken })).toEqual(UNAVAILABLE)
      }
      other.before.set(metadata, answering(404, '{}'))
      expect(await link(userId, idpId, { idToken })).toEqual(UNAVAILABLE)
      other.before.delete(metadata)
      for (const [status, body] of [
        [500, ''],
        [404, ''],
        [200, 'x'],
        [200, '{}'],
      ] as const) {
        other.before.set('/jwks', answering(status, body))
        expect([body, await link(userId, idpId, { idToken })]).toEqual([body, UNAVAILABLE])
      }
      other.before.delete('/jwks')
      expect(await link(userId, idpId, { idToken })).toMatchObject({ status: 200, externalId: 'dan' })
    } finally {
      other.close()
    }
  })

  it('security 30: deleted, or changed, while it is asked, it links nobody', async () => {
    const { accessToken } = await upstream.tokensFor('dan')
    const gone = await idp()
    const userId = await person()
    upstream.before.set('/me', async () => {
      await surfaces.rest(tenant, token, 'DELETE', `/idps/${gone}`)
      return false
    })
    expect(await link(userId, gone, { accessToken })).toMatchObject({
      status: 404,
      message: 'No such identity provider.',
    })
    const moved = await idp()
    upstream.before.set('/me', async () => {
      await updateIdentityProvider(platformCtx(tenant), moved, { clientId: 'another' })
      return false
    })
    expect(await link(userId, moved, { accessToken })).toMatchObject({
      status: 503,
      message: 'The identity provider was changed meanwhile; try again.',
    })
    expect(await storedOf(userId)).toEqual([])
  })

  it('a user who becomes an administrator, or is gone, while it is asked is not linked by whoever may less', async () => {
    const { accessToken } = await upstream.tokensFor('dan')
    const [userId, idpId] = [await person(), await idp()]
    const narrow = { token: await tokenFor(tenant, ['idps:write']) }
    upstream.before.set('/me', async () => {
      await sql(`UPDATE "User" SET "roles" = '{admin}' WHERE "tenantId" = $1 AND "id" = $2`, [tenant, userId])
      return false
    })
    expect(await link(userId, idpId, { accessToken }, narrow)).toMatchObject({ status: 403 })
    upstream.before.set('/me', async () => {
      await surfaces.rest(tenant, token, 'DELETE', `/users/${userId}`)
      return false
    })
    expect(await link(userId, idpId, { accessToken })).toMatchObject({
      status: 404,
      message: 'No such user.',
    })
  })
})

describe('races', () => {
  it('of ten users for one identity, one gets it', async () => {
    const idpId = await idp()
    const ctx = platformCtx(tenant)
    const users = await Promise.all(Array.from({ length: 10 }, () => person()))
    const idToken = await upstream.sign(claims(`race-${idpId}`))
    const results = await Promise.allSettled(
      users.map((userId, i) =>
        i % 2
          ? linkIdpUser(ctx, userId, idpId, { idToken })
          : addIdpUser(ctx, userId, idpId, { externalId: `race-${idpId}` }),
      ),
    )
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    for (const result of results)
      if (result.status === 'rejected') expect(result.reason).toMatchObject({ code: 'CONFLICT', status: 409 })
  })

  it('one proof sent ten times at once is one link', async () => {
    const [userId, idpId] = [await person(), await idp()]
    const idToken = await upstream.sign(claims(`same-${idpId}`))
    const links = await Promise.all(
      Array.from({ length: 10 }, () => linkIdpUser(platformCtx(tenant), userId, idpId, { idToken })),
    )
    expect(new Set(links.map(({ id }) => id)).size).toBe(1)
    expect(await eventsOf(userId)).toHaveLength(1)
  })
})

describe('lists', () => {
  let userId: string
  let ids: string[]
  beforeAll(async () => {
    userId = await person()
    ids = []
    for (let i = 0; i < 5; i++) {
      const idpId = await idp()
      ids.push(idpId)
      await addIdpUser(platformCtx(tenant), userId, idpId, { externalId: `list-${i}` })
    }
  })

  it('of a user, by page over REST', async () => {
    const first = await rest('GET', `${userId}/idps?page=0&pageSize=2`)
    expect(first).toMatchObject({ status: 200, page: 0, pageSize: 2, totalSize: 5 })
    expect(first.idpUsers.map((link: Any) => link.idpId)).toEqual(ids.slice(0, 2))
    expect((await rest('GET', `${userId}/idps?page=2&pageSize=2`)).idpUsers).toHaveLength(1)
    expect(await rest('GET', `${await person()}/idps`)).toMatchObject({ totalSize: 0, idpUsers: [] })
    expect(await rest('GET', `${newId('user')}/idps`)).toMatchObject({ status: 404 })
  })

  it('of a user, by cursor over GraphQL, with the provider and the user of each', async () => {
    const list = async (args: string) =>
      (
        await surfaces.gql(
          tenant,
          token,
          `{ user(id: "${userId}") { idpUsers(${args}) { totalSize nodes { id externalId idp { id name } user { id } }
             pageInfo { endCursor hasNextPage } } } }`,
        )
      ).body.data.user.idpUsers
    const first = await list('first: 3')
    expect(first).toMatchObject({ totalSize: 5, pageInfo: { hasNextPage: true } })
    expect(first.nodes[0]).toMatchObject({ idp: { id: ids[0], name: 'Upstream' }, user: { id: userId } })
    const second = await list(`first: 3, after: "${first.pageInfo.endCursor}"`)
    expect([...first.nodes, ...second.nodes].map(({ idp }: Any) => idp.id)).toEqual(ids)
  })

  it('a link is found by node, at home and with the scope', async () => {
    const [stored] = await storedOf(userId)
    const ask = async (as: string, of = tenant) =>
      (await surfaces.gql(of, as, `{ node(id: "${stored?.id}") { id __typename } }`)).body
    expect((await ask(token)).data).toEqual({ node: { id: stored?.id, __typename: 'IdpUser' } })
    expect((await ask(await tokenFor(tenant, ['users:read']))).errors?.[0]?.extensions.code).toBe('FORBIDDEN')
    const other = await newTenant()
    expect((await ask(await tokenFor(other), other)).data).toEqual({ node: null })
  })
})

describe('round trips', () => {
  it('a list costs one, and one more for totalSize; a link one', async () => {
    const [userId, idpId] = [await person(), await idp()]
    const ctx = await ctxFor(tenant)
    expect(await countStatements(() => addIdpUser(ctx, userId, idpId, { externalId: 'counted' }))).toBe(5)
    expect(await countStatements(() => listIdpUsers(ctx, userId, {}))).toBe(1)
    const page = await listIdpUsers(ctx, userId, {})
    expect(await countStatements(() => page.countAll())).toBe(1)
    expect(await countStatements(() => getIdpUser(ctx, userId, idpId))).toBe(1)
    const idToken = await upstream.sign(claims('counted'))
    expect(await countStatements(() => linkIdpUser(ctx, userId, idpId, { idToken }))).toBe(6)
    expect(await countStatements(() => unlinkIdpUser(ctx, userId, idpId))).toBe(4)
  })

  it('fifty users with their links cost one', async () => {
    const slug = await newTenant()
    const ctx = platformCtx(slug)
    await createIdentityProvider(ctx, { id: 'up', type: 'google', name: 'Up' })
    for (let i = 0; i < 50; i++) {
      const { id } = await createUser(ctx, {})
      await addIdpUser(ctx, id, 'up', { externalId: `e${i}` })
    }
    const as = await tokenFor(slug)
    const query = '{ users(first: 50) { nodes { id idpUsers(first: 5) { nodes { externalId metadata } } } } }'
    let body: Any
    const ask = async () => {
      body = (await surfaces.gql(slug, as, query)).body
    }
    await ask()
    const counts = [await countStatements(ask), await countStatements(ask), await countStatements(ask)]
    // An access check of a machine's token is cached for a second at most.
    expect(Math.min(...counts)).toBe(1)
    expect(body.data.users.nodes).toHaveLength(50)
    expect(body.data.users.nodes[7].idpUsers.nodes).toEqual([{ externalId: 'e7', metadata: {} }])
  })
})
