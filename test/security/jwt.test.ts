import {
  createHmac,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  type KeyPairKeyObjectResult,
  sign,
} from 'node:crypto'
import { decodeJwt, type JWK } from 'jose'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createClient } from '../../src/clients/clients.ts'
import { open } from '../../src/crypto.ts'
import { platformCtx } from '../../src/ctx.ts'
import { sql } from '../../src/db.ts'
import { selectSigningKeys } from '../../src/oidc/keys/keys.sql.ts'
import { apiAudienceOf, publicKeys, SEAL_PURPOSE } from '../../src/oidc/keys/keys.ts'
import { issueAccessToken } from '../../src/oidc/token/access-tokens.ts'
import { SIGNING_ALGORITHMS, type SigningAlgorithm } from '../../src/signing-algorithms.ts'
import { setUserRoles } from '../../src/users/roles.ts'
import {
  answerIn,
  authorizePath,
  Browser,
  exchange,
  makeClient,
  makeUser,
  signInAt,
  userinfoOf,
} from '../oidc/provider.ts'
import { newTenant, tokenFor } from '../support/actors.ts'
import { startApp, type TestApp } from '../support/app.ts'
import { openSocket } from '../support/streams.ts'

let app: TestApp
let tenant: string
let access: string
let idToken: string
let client: Awaited<ReturnType<typeof makeClient>>
let browser: Browser
let privateKey: KeyObject
let kid: string

async function keyOf(
  slug: string,
  alg: SigningAlgorithm = 'ES256',
): Promise<{ kid: string; privateKey: KeyObject }> {
  const row = (await selectSigningKeys(sql, slug)).find((key) => key.alg === alg)
  const key = open(SEAL_PURPOSE, row?.privateKey ?? '')
  return { kid: row?.id ?? '', privateKey: createPrivateKey({ key, format: 'der', type: 'pkcs8' }) }
}

beforeAll(async () => {
  app = await startApp()
  tenant = await newTenant()
  client = await makeClient(tenant, { scopes: ['users:read'] })
  const user = await makeUser(tenant, `ada@${tenant}.example`)
  await setUserRoles(platformCtx(tenant), user.id, { roles: ['admin'] })
  browser = new Browser(app)
  const path = authorizePath(tenant, client, { scope: 'openid users:read' })
  const { location } = await signInAt(browser, path, user.email ?? '')
  const { body } = await exchange(app, tenant, client, answerIn(location).code ?? '')
  access = body.access_token ?? ''
  idToken = body.id_token ?? ''
  ;({ privateKey, kid } = await keyOf(tenant))
})
afterAll(() => app.close())

const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
const claims = () => decodeJwt(access)
const signed = (header: object, payload: object, key = privateKey) => {
  const input = `${encode(header)}.${encode(payload)}`
  return `${input}.${sign('sha256', Buffer.from(input), { key, dsaEncoding: 'ieee-p1363' }).toString('base64url')}`
}
const signedHs = (header: object, payload: object, secret: string | Buffer) => {
  const input = `${encode(header)}.${encode(payload)}`
  return `${input}.${createHmac('sha256', secret).update(input).digest('base64url')}`
}
const good = () => ({ alg: 'ES256', typ: 'at+jwt', kid })

/** What each surface that takes an access token says to one. */
async function answersTo(token: string, slug = tenant): Promise<Record<string, unknown>> {
  const socket = openSocket(`${app.origin.replace('http', 'ws')}/${slug}/graphql`, token)
  const outcome = await new Promise<number>((resolve) => {
    socket.on('connected', () => resolve(101))
    socket.on('closed', (event) => resolve((event as { code: number }).code))
  })
  await socket.dispose()
  const graphql = await app.gql(slug, token, '{ users { page } }')
  return {
    userinfo: (await userinfoOf(app, slug, token)).status,
    rest: (await app.rest(slug, token, 'GET', '/users')).status,
    graphql: graphql.body.data?.users ? 200 : graphql.status,
    socket: outcome,
  }
}
const REFUSED = { userinfo: 401, rest: 401, graphql: 401, socket: 4403 }
const TAKEN = { userinfo: 200, rest: 200, graphql: 200, socket: 101 }

describe('security 34: only what this tenant signed as an access token is one', () => {
  test('the control: the token itself, and one signed here with its key, are taken', async () => {
    expect(await answersTo(access)).toEqual(TAKEN)
    expect(await answersTo(signed(good(), claims()))).toEqual(TAKEN)
  })

  test('keys always say what they are for', async () => {
    for (const key of (await publicKeys(tenant)).keys)
      expect(key).toMatchObject({ alg: expect.any(String), use: 'sig', kid: expect.any(String) })
  })

  test.each(['none', 'None', 'NONE', 'nOnE', ''])(
    'alg %s is refused, with and without a signature',
    async (alg) => {
      const input = `${encode({ ...good(), alg })}.${encode(claims())}`
      for (const signature of ['', access.split('.')[2]])
        expect(await answersTo(`${input}.${signature}`)).toEqual(REFUSED)
    },
  )

  test('HS256 with the public key for a secret is refused, however it is written', async () => {
    const [jwk] = (await publicKeys(tenant)).keys as [JWK]
    const key = createPublicKey({ key: jwk, format: 'jwk' } as never)
    const secrets = [
      key.export({ format: 'pem', type: 'spki' }) as string,
      (key.export({ format: 'pem', type: 'spki' }) as string).trim(),
      key.export({ format: 'der', type: 'spki' }) as Buffer,
      JSON.stringify(jwk),
      Buffer.from(jwk.x ?? '', 'base64url'),
      jwk.x ?? '',
      kid,
      '',
    ]
    for (const alg of ['HS256', 'ES256', 'HS384'])
      for (const secret of secrets)
        expect(await answersTo(signedHs({ ...good(), alg }, claims(), secret))).toEqual(REFUSED)
  })

  test('a kid that is missing, wrong, of another kind or of another tenant is refused', async () => {
    const other = await keyOf(await newTenant())
    const { kid: _, ...without } = good()
    const headers = [
      without,
      { ...good(), kid: 'unknown' },
      { ...good(), kid: '' },
      { ...good(), kid: null },
      { ...good(), kid: [kid] },
      { ...good(), kid: '__proto__' },
      { ...good(), kid: `${kid}\u0000` },
      { ...good(), kid: `../${kid}` },
      { ...good(), kid: other.kid },
    ]
    for (const header of headers) expect(await answersTo(signed(header, claims()))).toEqual(REFUSED)
    // Our issuer and our kid, signed by a key of another tenant of the deployment; and the other way round.
    expect(await answersTo(signed(good(), claims(), other.privateKey))).toEqual(REFUSED)
    expect(await answersTo(signed({ ...good(), kid: other.kid }, claims(), other.privateKey))).toEqual(
      REFUSED,
    )
  })

  test('a key that the token brings along is not used', async () => {
    const mine = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const jwk = { ...mine.publicKey.export({ format: 'jwk' }), kid, alg: 'ES256', use: 'sig' }
    for (const extra of [
      { jwk },
      { jku: 'https://evil.example/jwks.json' },
      { x5u: 'https://evil.example/x5u' },
      { x5c: ['MIIB'] },
      { jwk, kid: undefined },
      { jwk, kid: 'mine' },
    ])
      expect(await answersTo(signed({ ...good(), ...extra }, claims(), mine.privateKey))).toEqual(REFUSED)
  })

  test('an extension that must be understood is not ignored, nor is another algorithm of the key', async () => {
    expect(await answersTo(signed({ ...good(), crit: ['exp'], exp: 1 }, claims()))).toEqual(REFUSED)
    expect(await answersTo(signed({ ...good(), crit: ['b64'], b64: false }, claims()))).toEqual(REFUSED)
    for (const alg of ['ES384', 'RS256', 'PS256', 'EdDSA'])
      expect(await answersTo(signed({ ...good(), alg }, claims()))).toEqual(REFUSED)
  })

  test('another type, issuer, audience or time is refused, and so is a token without them', async () => {
    for (const typ of ['JWT', 'at+JWT2', 'logout+jwt', 'application/jwt', undefined])
      expect(await answersTo(signed({ ...good(), typ }, claims()))).toEqual(REFUSED)
    const now = Math.floor(Date.now() / 1000)
    const { iss: _iss, ...noIssuer } = claims()
    const { aud: _aud, ...noAudience } = claims()
    for (const payload of [
      noIssuer,
      noAudience,
      { ...claims(), iss: `${claims().iss}/` },
      { ...claims(), iss: 'http://localhost:3000/system' },
      { ...claims(), iss: [claims().iss] },
      { ...claims(), aud: [] },
      { ...claims(), aud: client.id },
      { ...claims(), aud: `http://localhost:3000/${tenant}` },
      { ...claims(), exp: now - 1 },
      { ...claims(), nbf: now + 600 },
      { ...claims(), exp: 'never' },
    ])
      expect(await answersTo(signed(good(), payload))).toEqual(REFUSED)
  })

  test('claims that were changed behind the signature are refused', async () => {
    const [header = '', , signature = ''] = access.split('.')
    for (const change of [{ sub: client.id }, { scope: 'openid users:write' }, { exp: 9_999_999_999 }])
      expect(await answersTo(`${header}.${encode({ ...claims(), ...change })}.${signature}`)).toEqual(REFUSED)
  })

  test('an ID token is no access token, and an access token is no ID token', async () => {
    expect(await answersTo(idToken)).toEqual(REFUSED)
    // Even with all that an access token has, its type gives it away.
    expect(
      await answersTo(signed({ ...good(), typ: 'JWT' }, { ...claims(), ...decodeJwt(idToken) })),
    ).toEqual(REFUSED)
    const hinted = await browser.fetch(
      authorizePath(tenant, client, { prompt: 'none', id_token_hint: access }),
    )
    expect(answerIn(hinted.headers.get('location')).error).toBe('invalid_request')
    expect((await browser.fetch(`/${tenant}/oidc/logout?id_token_hint=${access}`)).status).toBe(400)
    expect((await userinfoOf(app, tenant, access)).status).toBe(200)
  })

  test('forged ID tokens end no session and name nobody', async () => {
    const mine = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const header = { alg: 'ES256', typ: 'JWT', kid }
    const body = decodeJwt(idToken)
    for (const forged of [
      `${encode({ ...header, alg: 'none' })}.${encode(body)}.`,
      signed(header, body, mine.privateKey),
      signed({ ...header, jwk: mine.publicKey.export({ format: 'jwk' }) }, body, mine.privateKey),
      signed({ ...header, kid: undefined }, body),
      signed(header, { ...body, iss: 'http://localhost:3000/system' }),
    ]) {
      expect((await browser.fetch(`/${tenant}/oidc/logout?id_token_hint=${forged}`)).status).toBe(400)
      const path = authorizePath(tenant, client, { prompt: 'none', id_token_hint: forged })
      const { error } = answerIn((await browser.fetch(path)).headers.get('location'))
      expect(error).toBe('invalid_request')
    }
    expect((await userinfoOf(app, tenant, access)).status).toBe(200)
  })
})

/** How each algorithm signs, and a new key of its kind. */
const KINDS: Record<SigningAlgorithm, { digest: string | null; newKey: () => KeyPairKeyObjectResult }> = {
  ES256: { digest: 'sha256', newKey: () => generateKeyPairSync('ec', { namedCurve: 'P-256' }) },
  RS256: { digest: 'sha256', newKey: () => generateKeyPairSync('rsa', { modulusLength: 2048 }) },
  ES384: { digest: 'sha384', newKey: () => generateKeyPairSync('ec', { namedCurve: 'P-384' }) },
  EdDSA: { digest: null, newKey: () => generateKeyPairSync('ed25519') },
}

describe.each(SIGNING_ALGORITHMS)('security 34: a key of %s', (alg) => {
  let own: Awaited<ReturnType<typeof keyOf>>
  let jwk: JWK
  beforeAll(async () => {
    await makeClient(tenant, { idTokenSigningAlg: alg })
    // The others' keys are there too, to be confused with.
    for (const other of SIGNING_ALGORITHMS) await makeClient(tenant, { userInfoSigningAlg: other })
    own = await keyOf(tenant, alg)
    jwk = (await publicKeys(tenant)).keys.find((key) => key.kid === own.kid) as JWK
  })

  const signedAs = (by: SigningAlgorithm, header: object, payload: object, key: KeyObject) => {
    const input = `${encode(header)}.${encode(payload)}`
    const signature = sign(KINDS[by].digest, Buffer.from(input), { key, dsaEncoding: 'ieee-p1363' })
    return `${input}.${signature.toString('base64url')}`
  }
  /** The error of an authorize request with an ID token as its hint; undefined where it is taken. */
  async function hintError(token: string): Promise<string | undefined> {
    const path = authorizePath(tenant, client, { prompt: 'none', id_token_hint: token })
    return answerIn((await browser.fetch(path)).headers.get('location')).error
  }
  /** The same forgery as an access token and as an ID token is refused by all that take either. */
  async function expectRefused(forge: (typ: string, payload: object) => string) {
    expect(await answersTo(forge('at+jwt', claims()))).toEqual(REFUSED)
    const forged = forge('JWT', decodeJwt(idToken))
    expect(await hintError(forged)).toBe('invalid_request')
    expect((await browser.fetch(`/${tenant}/oidc/logout?id_token_hint=${forged}`)).status).toBe(400)
  }

  test('the control: what it signed is taken', async () => {
    const header = (typ: string) => ({ alg, typ, kid: own.kid })
    expect(await answersTo(signedAs(alg, header('at+jwt'), claims(), own.privateKey))).toEqual(TAKEN)
    const hint = signedAs(alg, header('JWT'), decodeJwt(idToken), own.privateKey)
    expect(await hintError(hint)).toBeUndefined()
  })

  test('verifies nothing without a signature, or with an HMAC under what is public of it', async () => {
    for (const none of ['none', 'NONE', alg, ''])
      await expectRefused((typ, payload) => `${encode({ alg: none, typ, kid: own.kid })}.${encode(payload)}.`)
    const publicKey = createPublicKey({ key: jwk, format: 'jwk' } as never)
    const secrets = [
      publicKey.export({ format: 'pem', type: 'spki' }) as string,
      publicKey.export({ format: 'der', type: 'spki' }) as Buffer,
      JSON.stringify(jwk),
      Buffer.from(jwk.n ?? jwk.x ?? '', 'base64url'),
      own.kid,
    ]
    for (const hmac of ['HS256', 'HS384', 'HS512', alg])
      for (const secret of secrets)
        await expectRefused((typ, payload) => {
          const input = `${encode({ alg: hmac, typ, kid: own.kid })}.${encode(payload)}`
          const hash = /^HS/.test(hmac) ? `sha${hmac.slice(2)}` : 'sha256'
          return `${input}.${createHmac(hash, secret).update(input).digest('base64url')}`
        })
  })

  test('is found by its kid alone, and takes its own algorithm alone', async () => {
    for (const kid of [undefined, 'unknown', `${own.kid} `])
      await expectRefused((typ, payload) => signedAs(alg, { alg, typ, kid }, payload, own.privateKey))
    for (const other of SIGNING_ALGORITHMS.filter((known) => known !== alg)) {
      const theirs = await keyOf(tenant, other)
      // By this key under the other's kid, and by the other's under this one's, with either algorithm in the header.
      for (const named of [alg, other]) {
        await expectRefused((typ, payload) =>
          signedAs(alg, { alg: named, typ, kid: theirs.kid }, payload, own.privateKey),
        )
        await expectRefused((typ, payload) =>
          signedAs(other, { alg: named, typ, kid: own.kid }, payload, theirs.privateKey),
        )
      }
      // By this key, under its kid, with another algorithm than it is for.
      await expectRefused((typ, payload) =>
        signedAs(alg, { alg: other, typ, kid: own.kid }, payload, own.privateKey),
      )
    }
    for (const unknown of ['PS256', 'RS384', 'ES512', 'ES256K', 'Ed25519', 'Ed448'])
      await expectRefused((typ, payload) =>
        signedAs(alg, { alg: unknown, typ, kid: own.kid }, payload, own.privateKey),
      )
  })

  test('is not replaced by one that the token brings along', async () => {
    const { privateKey: mine, publicKey } = KINDS[alg].newKey()
    const brought = { ...publicKey.export({ format: 'jwk' }), kid: own.kid, alg, use: 'sig' }
    for (const extra of [
      { jwk: brought },
      { jwk: brought, kid: undefined },
      { jku: 'https://evil.example/' },
    ])
      await expectRefused((typ, payload) =>
        signedAs(alg, { alg, typ, kid: own.kid, ...extra }, payload, mine),
      )
  })
})

describe('security 36, 48: tokens of other tenants', () => {
  test('are refused, whatever audience they claim', async () => {
    const other = await newTenant()
    expect(await answersTo(await tokenFor(other))).toEqual(REFUSED)
    const { client: theirs } = await createClient(platformCtx(other), {
      name: 'Theirs',
      appType: 'machine',
      type: 'login',
      scopes: ['users:read'],
    })
    const claiming = await issueAccessToken(other, {
      subject: theirs.id,
      clientId: theirs.id,
      scopes: ['openid', 'users:read'],
      audience: [apiAudienceOf(tenant), `http://localhost:3000/${tenant}/oidc/userinfo`],
      lifetimeSeconds: 600,
    })
    expect(await answersTo(claiming)).toEqual(REFUSED)
  })

  test('of tenant system are refused unless their client is for all tenants; and people of it always', async () => {
    const system = platformCtx('system')
    const issue = (subject: string, clientId: string) =>
      issueAccessToken('system', {
        subject,
        clientId,
        scopes: ['users:read', 'tenants:write'],
        audience: [apiAudienceOf('system')],
        lifetimeSeconds: 600,
      })
    const machine = { name: 'M', appType: 'machine', type: 'login', scopes: ['users:read', 'tenants:write'] }
    const { client: plain } = await createClient(system, machine)
    const { client: operator } = await createClient(system, { ...machine, allTenants: true })
    expect(await answersTo(await issue(plain.id, plain.id))).toEqual(REFUSED)
    const person = await makeUser('system', `root-${tenant}@system.example`)
    await setUserRoles(system, person.id, { roles: ['admin'] })
    expect(await answersTo(await issue(person.id, operator.id))).toEqual(REFUSED)
    // The control. Even an operator has no scopes of system elsewhere.
    const token = await issue(operator.id, operator.id)
    expect(await answersTo(token)).toEqual({ ...TAKEN, userinfo: 401 })
    expect((await app.gql(tenant, token, '{ viewer { scopes } }')).body.data).toEqual({
      viewer: { scopes: ['users:read'] },
    })
    expect((await app.rest(tenant, token, 'POST', '/tenants', { slug: 'forged' })).status).toBe(403)
  })

  test('narrowed to one tenant, an operator’s token works in no other', async () => {
    const other = await newTenant()
    const machine = { name: 'M', appType: 'machine', type: 'login', scopes: ['users:read'], allTenants: true }
    const { client: operator } = await createClient(platformCtx('system'), machine)
    const token = await issueAccessToken('system', {
      subject: operator.id,
      clientId: operator.id,
      scopes: ['users:read'],
      audience: [apiAudienceOf(tenant)],
      lifetimeSeconds: 600,
    })
    expect(await answersTo(token)).toEqual({ ...TAKEN, userinfo: 401 })
    for (const slug of [other, 'system']) expect(await answersTo(token, slug)).toEqual(REFUSED)
  })
})
