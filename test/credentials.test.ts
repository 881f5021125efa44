import { afterAll, beforeAll, beforeEach, describe, expect, inject, it, test, vi } from 'vitest'
import { newId } from '../src/crypto.ts'
import { type Ctx, platformCtx, ROLES } from '../src/ctx.ts'
import { dbFor } from '../src/db.ts'
import { setUserRoles } from '../src/users/roles.ts'
import { createUser } from '../src/users/users.ts'
import { ctxFor, newTenant, tokenFor } from './support/actors.ts'
import { logOf } from './support/events.ts'
import { walk } from './support/lists.ts'
import { countStatements } from './support/statements.ts'
import { openSurfaces, type Surfaces } from './support/surfaces.ts'

const isPostgres = inject('database').kind === 'postgres'

let app: Surfaces
let tenant: string
let ctx: Ctx
let token: string
let userId: string

beforeAll(async () => {
  app = await openSurfaces()
})
afterAll(() => app.close())
beforeEach(async () => {
  tenant = await newTenant()
  ctx = await ctxFor(tenant)
  token = await tokenFor(tenant)
  userId = (await createUser(ctx, { name: 'Ada' })).id
})

const DEVICE = {
  deviceHash: 'h',
  deviceSwVersion: null,
  deviceMobile: false,
  devicePlatform: 'Linux',
  deviceArchitecture: 'x86',
  deviceBitness: '64',
  deviceModel: null,
  devicePlatformVersion: '6.1',
  deviceUaBrand: 'Chromium',
  deviceUaVersion: '142.0',
  deviceLastSeenIp: '192.0.2.1',
  deviceLastSeenAt: new Date('2026-11-01T00:00:00.000Z'),
}
async function plant(of = userId, over: object = DEVICE, where = tenant): Promise<string> {
  const id = newId('cred')
  await dbFor(where).credential.create({
    data: { tenantId: where, id, userId: of, externalId: `x-${id}`, publicKey: 'pQECAyYgASFYIA', ...over },
  })
  return id
}

const rest = (method: string, path: string, by = token, body?: unknown) =>
  app.rest(tenant, by, method, path, body)
const gql = (query: string, variables = {}, by = token) => app.gql(tenant, by, query, variables)
const hasCredential = async (id = userId) =>
  (await dbFor(tenant).user.findUnique({ where: { tenantId_id: { tenantId: tenant, id } } }))?.hasCredential

const FIELDS =
  'id type publicKey lastUsedAt createdAt device { hash swVersion mobile platform architecture bitness model platformVersion uaBrand uaVersion lastSeenIp lastSeenAt }'

describe('a credential (spec: Credential, Device)', () => {
  it('has the fields of the specification and no others, on both surfaces', async () => {
    const id = await plant()
    const { body, status } = await rest('GET', `/credentials/${id}`)
    expect(status).toBe(200)
    expect(body).toEqual({
      id,
      type: 'public-key',
      publicKey: 'pQECAyYgASFYIA',
      lastUsedAt: null,
      createdAt: expect.any(String),
      device: {
        hash: 'h',
        swVersion: null,
        mobile: false,
        platform: 'Linux',
        architecture: 'x86',
        bitness: '64',
        model: null,
        platformVersion: '6.1',
        uaBrand: 'Chromium',
        uaVersion: '142.0',
        lastSeenIp: '192.0.2.1',
        lastSeenAt: '2026-11-01T00:00:00.000Z',
      },
    })
    expect(Object.keys(body)).toEqual(['id', 'type', 'publicKey', 'lastUsedAt', 'createdAt', 'device'])
    expect(Object.keys(body.device)).toEqual(
      'hash swVersion mobile platform architecture bitness model platformVersion uaBrand uaVersion lastSeenIp lastSeenAt'.split(
        ' ',
      ),
    )
    const answer = await gql(
      `query ($id: ID!) { credential(id: $id) { ${FIELDS} userId user { name } } node(id: $id) { __typename id } }`,
      { id },
    )
    expect(answer.body).toEqual({
      data: {
        credential: { ...body, type: 'PUBLIC_KEY', userId, user: { name: 'Ada' } },
        node: { __typename: 'Credential', id },
      },
    })
  })

  it('has no device where nothing is known of one', async () => {
    const id = await plant(userId, {})
    expect((await rest('GET', `/credentials/${id}`)).body.device).toBeNull()
    expect(
      (await gql(`{ credential(id: "${id}") { device { hash } } }`)).body.data.credential.device,
    ).toBeNull()
  })

  it('is not found by an id of nobody, of another kind, or of another tenant', async () => {
    const elsewhere = await newTenant()
    const other = await createUser(await ctxFor(elsewhere), {})
    const foreign = await plant(other.id, DEVICE, elsewhere)
    for (const id of [newId('cred'), userId, 'x', foreign]) {
      for (const method of ['GET', 'DELETE'])
        expect(await rest(method, `/credentials/${id}`)).toMatchObject({
          status: 404,
          body: { code: 'NOT_FOUND' },
        })
      const { data, errors } = (await gql(`{ credential(id: "${id}") { id } }`)).body
      expect(data).toEqual({ credential: null })
      expect(errors?.[0]?.extensions.code).toBe(id.startsWith('cred_') ? undefined : 'BAD_USER_INPUT')
    }
    expect(await dbFor(elsewhere).credential.count({ where: { tenantId: elsewhere } })).toBe(1)
  })
})

describe("a user's credentials (spec: List user credentials)", () => {
  it('come page by page, and by cursor, the same on both surfaces', async () => {
    const ids = [await plant(), await plant(), await plant()]
    await plant((await createUser(ctx, {})).id)
    const first = await rest('GET', `/users/${userId}/credentials?pageSize=2`)
    expect(first).toMatchObject({ status: 200, body: { page: 0, pageSize: 2, totalSize: 3 } })
    expect(Object.keys(first.body)).toEqual(['page', 'pageSize', 'totalSize', 'credentials'])
    const second = await rest('GET', `/users/${userId}/credentials?pageSize=2&page=1`)
    const listed = [...first.body.credentials, ...second.body.credentials]
    expect(listed.map(({ id }: { id: string }) => id)).toEqual(ids)
    const walked = await walk(
      app,
      tenant,
      token,
      `/users/${userId}/credentials?pageSize=2`,
      'credentials',
      'next',
    )
    expect(walked.flat()).toEqual(listed)

    const NESTED = `query ($id: ID!, $after: String) { user(id: $id) { credentials(first: 2, after: $after) {
      totalSize nodes { ${FIELDS} } pageInfo { hasNextPage endCursor } } } }`
    const { credentials: one } = (await gql(NESTED, { id: userId })).body.data.user
    expect(one).toMatchObject({ totalSize: 3, pageInfo: { hasNextPage: true } })
    const { credentials: two } = (await gql(NESTED, { id: userId, after: one.pageInfo.endCursor })).body.data
      .user
    expect(two.pageInfo.hasNextPage).toBe(false)
    expect([...one.nodes, ...two.nodes]).toEqual(
      listed.map((credential: object) => ({ ...credential, type: 'PUBLIC_KEY' })),
    )
  })

  it('of an unknown user are 404; out of range is 400', async () => {
    expect((await rest('GET', `/users/${newId('user')}/credentials`)).status).toBe(404)
    expect(await rest('GET', `/users/${userId}/credentials?pageSize=1001`)).toMatchObject({
      status: 400,
      body: { fields: [{ field: 'pageSize' }] },
    })
  })

  test.skipIf(!isPostgres)(
    'cost one round trip, one more for the total, and none within a page of users',
    async () => {
      for (let i = 0; i < 49; i++) await plant((await createUser(ctx, {})).id)
      await plant()
      const path = `/users/${userId}/credentials`
      const nested = `{ users(first: 50) { nodes { id credentials(first: 5) { nodes { ${FIELDS} } } } } }`
      const least = async (work: () => Promise<unknown>) => {
        const counts: number[] = []
        for (let i = 0; i < 3; i++) counts.push(await countStatements(work))
        return Math.min(...counts)
      }
      expect(await least(() => rest('GET', path))).toBe(2) // REST always tells the total
      const { users } = (await gql(nested)).body.data
      expect(users.nodes).toHaveLength(50)
      expect(
        users.nodes.every(
          (user: { credentials: { nodes: object[] } }) => user.credentials.nodes.length === 1,
        ),
      ).toBe(true)
      expect(await least(() => gql(nested))).toBe(1)
      expect(await least(() => gql(`{ user(id: "${userId}") { credentials { nodes { id } } } }`))).toBe(1)
      expect(await least(() => gql(`{ user(id: "${userId}") { credentials { totalSize } } }`))).toBe(2)
    },
  )
})

const REVOKE = `mutation ($id: ID!) { revokeCredential(input: { credentialId: $id }) {
  ... on RevokeCredentialPayload { revokedCredentialId } ... on UserError { code } } }`

describe('revoking a credential (spec: Revoke credential)', () => {
  it('removes it for good, tells so, and keeps the flag of the user true while there is another', async () => {
    const [a, b] = [await plant(), await plant()]
    expect(await hasCredential()).toBe(true)
    const gone = await rest('DELETE', `/credentials/${a}`)
    expect(gone).toMatchObject({ status: 200, body: { message: 'The credential is revoked.', fields: [] } })
    expect((await rest('DELETE', `/credentials/${a}`)).status).toBe(404)
    expect(await hasCredential()).toBe(true)
    expect((await gql(REVOKE, { id: b })).body.data.revokeCredential).toEqual({ revokedCredentialId: b })
    expect((await gql(REVOKE, { id: b })).body.data.revokeCredential).toEqual({ code: 'NOT_FOUND' })
    expect(await hasCredential()).toBe(false)
    expect((await rest('GET', `/users/${userId}/credentials`)).body.totalSize).toBe(0)
    expect((await logOf(tenant)).filter(({ type }) => type === 'credential.revoked')).toMatchObject([
      { userId, subjectIds: [a], actorClientId: expect.any(String) },
      { userId, subjectIds: [b] },
    ])
  })

  it('of all at once leaves no flag behind', async () => {
    const ids = await Promise.all(Array.from({ length: 8 }, () => plant()))
    const answers = await Promise.all(ids.map((id) => rest('DELETE', `/credentials/${id}`)))
    expect(answers.map(({ status }) => status)).toEqual(ids.map(() => 200))
    expect(await hasCredential()).toBe(false)
  })

  it('many times at once succeeds once', async () => {
    const id = await plant()
    const answers = await Promise.all(Array.from({ length: 8 }, () => rest('DELETE', `/credentials/${id}`)))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(7).fill(404)])
    expect((await logOf(tenant)).filter(({ type }) => type === 'credential.revoked')).toHaveLength(1)
  })

  it('takes four round trips', async () => {
    const id = await plant()
    const call = vi.fn(async () =>
      (await import('../src/credentials/credentials.ts')).revokeCredential(ctx, id),
    )
    expect(await countStatements(call)).toBe(4)
  })
})

const CREATE = `mutation ($input: CreateCredentialEnrollmentTokenInput!) { createCredentialEnrollmentToken(input: $input) {
  ... on CredentialEnrollmentTokenPayload { token uri deepLink }
  ... on ValidationError { code fields { field } } ... on UserError { code } } }`

describe('an enrolment token (spec: Create credential enrollment token)', () => {
  const path = (id = userId) => `/users/${id}/credentials/enrollment-tokens`

  it('is answered with links made of BASE_URL, on both surfaces', async () => {
    const { status, headers, body } = await rest('POST', path(), token, { send: false })
    expect([status, headers.get('location')]).toEqual([201, null])
    expect(Buffer.from(body.token, 'base64url')).toHaveLength(32)
    expect(body).toEqual({
      token: body.token,
      uri: `http://localhost:3000/${tenant}/enroll?token=${body.token}`,
      deepLink: `vestibule.app:/${tenant}/enroll?token=${body.token}`,
    })
    const answer = await gql(CREATE, { input: { userId, type: 'PUBLIC_KEY', send: false } })
    const links = answer.body.data.createCredentialEnrollmentToken
    expect(links.uri).toBe(`http://localhost:3000/${tenant}/enroll?token=${links.token}`)
    expect(links.token).not.toBe(body.token)
  })

  it('is stored hashed, and its bytes are in no event', async () => {
    const { body } = await rest('POST', path(), token, { send: false })
    const rows = await dbFor(tenant).enrollmentToken.findMany({ where: { tenantId: tenant } })
    expect(rows).toMatchObject([
      { userId, type: 'public-key', byManagement: true, sentTo: null, usedAt: null },
    ])
    const events = await logOf(tenant)
    expect(events.filter(({ type }) => type === 'credential.enrollment_created')).toMatchObject([
      { userId, actorClientId: expect.any(String), detail: { channel: null } },
    ])
    for (const stored of [JSON.stringify(rows), JSON.stringify(events)])
      expect(stored).not.toContain(body.token)
  })

  it.each([
    ['another type', { type: 'password', send: false }, 'type'],
    ['a flag that is none', { send: 'no' }, 'send'],
    ['an unknown field', { send: false, to: 'eve@evil.example' }, 'to'],
    ['a user with no verified address', {}, 'send'],
  ])('is refused for %s', async (_what, body, field) => {
    expect(await rest('POST', path(), token, body)).toMatchObject({
      status: 400,
      body: { fields: [{ field }] },
    })
  })

  it('is refused for unknown and locked users, the same on both surfaces', async () => {
    expect(await rest('POST', path(newId('user')), token, { send: false })).toMatchObject({
      status: 404,
      body: { code: 'NOT_FOUND' },
    })
    const unknown = await gql(CREATE, { input: { userId: newId('user'), send: false } })
    expect(unknown.body.data.createCredentialEnrollmentToken).toEqual({ code: 'NOT_FOUND' })
    await rest('PATCH', `/users/${userId}`, token, { locked: true })
    expect(await rest('POST', path(), token, { send: false })).toMatchObject({
      status: 403,
      body: { code: 'USER_LOCKED' },
    })
    const locked = await gql(CREATE, { input: { userId, send: false } })
    expect(locked.body.data.createCredentialEnrollmentToken).toEqual({ code: 'USER_LOCKED' })
    expect(await dbFor(tenant).enrollmentToken.count({ where: { tenantId: tenant } })).toBe(0)
  })

  it('takes four round trips', async () => {
    const { createCredentialEnrollmentToken } = await import('../src/credentials/enrolment-tokens.ts')
    expect(await countStatements(() => createCredentialEnrollmentToken(ctx, userId, { send: false }))).toBe(4)
  })
})

describe('nobody gets into the account of someone who may do more (design, section 5)', () => {
  it('by enrolling for them, nor takes their credentials away', async () => {
    await setUserRoles(platformCtx(tenant), userId, { roles: ['admin'] })
    const id = await plant()
    const support = await tokenFor(tenant, ROLES.support)
    const answers = [
      await rest('POST', `/users/${userId}/credentials/enrollment-tokens`, support, { send: false }),
      await rest('DELETE', `/credentials/${id}`, support),
    ]
    for (const answer of answers) expect(answer).toMatchObject({ status: 403, body: { code: 'FORBIDDEN' } })
    for (const [query, variables] of [
      [CREATE, { input: { userId, send: false } }],
      [REVOKE, { id }],
    ] as const)
      expect((await gql(query, variables, support)).body.errors?.[0]?.extensions.code).toBe('FORBIDDEN')
    expect(await dbFor(tenant).enrollmentToken.count({ where: { tenantId: tenant } })).toBe(0)
    expect((await rest('GET', `/credentials/${id}`, support)).status).toBe(200)

    const colleague = (await createUser(ctx, {})).id
    await setUserRoles(platformCtx(tenant), colleague, { roles: ['support'] })
    const theirs = await plant(colleague)
    const own = await rest('POST', `/users/${colleague}/credentials/enrollment-tokens`, support, {
      send: false,
    })
    expect(own.status).toBe(201)
    expect((await rest('DELETE', `/credentials/${theirs}`, support)).status).toBe(200)
  })
})
