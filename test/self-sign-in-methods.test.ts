import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createCredentialEnrollmentToken } from '../src/credentials/enrolment-tokens.ts'
import { newId } from '../src/crypto.ts'
import { dbFor } from '../src/db.ts'
import { createIdentityProvider } from '../src/idps/idps.ts'
import { addIdpUser } from '../src/idps/link-idp-user.ts'
import { LIMITS } from '../src/limits.ts'
import { RECENT_SIGN_IN_SECONDS } from '../src/self/own-access.ts'
import { revokeUserSessions } from '../src/sessions/sessions.ts'
import { makeUser } from './oidc/provider.ts'
import { ctxFor, newTenant } from './support/actors.ts'
import { startApp, type TestApp } from './support/app.ts'
import { doneBy, makeSpa, type PersonClient, type SignedIn, signInAs } from './support/people.ts'
import { startUpstream, type Upstream } from './support/upstream.ts'

let app: TestApp
let upstream: Upstream
let tenant: string
let spa: PersonClient
let people = 0
type Person = SignedIn & { credentialId: string; linkId: string }
let person: Person
beforeAll(async () => {
  app = await startApp()
  upstream = await startUpstream()
  tenant = await newTenant()
  spa = await makeSpa(tenant)
  await createIdentityProvider(await ctxFor(tenant), { id: 'partner', type: 'oauth2', name: 'Partner' })
  const { issuer, client } = upstream
  await createIdentityProvider(await ctxFor(tenant), {
    id: 'real',
    type: 'oidc',
    name: 'Upstream',
    issuer,
    ...client,
  })
})
afterAll(async () => {
  upstream.close()
  await app.close()
})
beforeEach(async () => {
  person = await newPerson()
})

/** A person with a credential and a link. */
async function newPerson(): Promise<Person> {
  const email = `person${people++}@${tenant}.example`
  const { id: userId } = await makeUser(tenant, email)
  const credentialId = newId('cred')
  await dbFor(tenant).credential.create({
    data: { tenantId: tenant, id: credentialId, userId, externalId: credentialId },
  })
  const { id: linkId } = await addIdpUser(await ctxFor(tenant), userId, 'partner', { externalId: email })
  return { ...(await signInAs(app, tenant, spa, email, { scope: 'openid account' })), credentialId, linkId }
}

const RESULT = '... on UserError { code } ... on ValidationError { fields { field } }'
async function run({ token }: SignedIn, name: string, input: string, selection: string) {
  const document = `mutation { ${name}(input: ${input}) { ${selection} ${RESULT} } }`
  const { body } = await app.gql(tenant, token, document)
  return body.data?.[name] ?? body.errors?.[0]?.extensions
}
const revoke = (by: SignedIn, credentialId: string) =>
  run(
    by,
    'revokeViewerCredential',
    `{credentialId: "${credentialId}"}`,
    '... on RevokeViewerCredentialPayload { revokedCredentialId }',
  )
const unlink = (by: SignedIn, idpId = 'partner') =>
  run(
    by,
    'unlinkViewerIdpUser',
    `{idpId: "${idpId}"}`,
    '... on UnlinkViewerIdpUserPayload { unlinkedIdpUserId }',
  )
const ENROL =
  'mutation { createViewerEnrollmentToken(input: {}) { ... on CredentialEnrollmentTokenPayload { token uri } } }'
const METHODS = '{ viewer { user { credentials { nodes { id } } idpUsers { nodes { id idpId } } } } }'
const methodsOf = async ({ token }: SignedIn) => (await app.gql(tenant, token, METHODS)).body.data.viewer.user
const both = ({ credentialId, linkId }: Person) => ({
  credentials: { nodes: [{ id: credentialId }] },
  idpUsers: { nodes: [{ id: linkId, idpId: 'partner' }] },
})

describe('the ways in of a person', () => {
  test('are seen and taken away by the person, and the log says so', async () => {
    expect(await methodsOf(person)).toEqual(both(person))
    expect(await revoke(person, person.credentialId)).toEqual({ revokedCredentialId: person.credentialId })
    expect(await unlink(person)).toEqual({ unlinkedIdpUserId: person.linkId })
    expect(await methodsOf(person)).toEqual({ credentials: { nodes: [] }, idpUsers: { nodes: [] } })
    expect(await revoke(person, person.credentialId)).toEqual({ code: 'NOT_FOUND' })
    expect(await unlink(person)).toEqual({ code: 'NOT_FOUND' })
    const own = await doneBy(tenant, person)
    expect(own).toMatchObject([
      { type: 'credential.revoked', userId: person.userId, subjectIds: [person.credentialId] },
      { type: 'idpuser.unlinked', userId: person.userId, subjectIds: [person.linkId, 'partner'] },
    ])
  })

  test('are added by the person: an identity that its provider proves, and a link to create a passkey with', async () => {
    const { code, redirectUri, codeVerifier } = await upstream.codeFor(person.userId)
    const link = (by: SignedIn) =>
      run(
        by,
        'linkViewerIdpUser',
        `{idpId: "real", code: "${code}", redirectUri: "${redirectUri}", codeVerifier: "${codeVerifier}"}`,
        '... on IdpUserPayload { idpUser { userId externalId } }',
      )
    expect(await link(person)).toEqual({ idpUser: { userId: person.userId, externalId: person.userId } })
    expect(await link(await newPerson())).toMatchObject({ fields: [{ field: 'code' }] })
    const made = await dbFor(tenant).idpUser.findFirst({
      where: { tenantId: tenant, idpId: 'real', userId: person.userId },
    })
    expect(made).toMatchObject({ byManagement: false, issuer: upstream.issuer })
    const { body } = await app.gql(tenant, person.token, ENROL)
    const { token, uri } = body.data.createViewerEnrollmentToken
    expect(uri).toBe(`http://localhost:3000/${tenant}/enroll?token=${token}`)
    expect(await dbFor(tenant).enrollmentToken.findFirst({ where: { tenantId: tenant } })).toMatchObject({
      userId: person.userId,
      byManagement: false,
      sentTo: null,
    })
  })

  test('are not added by a link that was made in a session that was revoked since', async () => {
    const opened = async (token: string) => (await app.fetch(`/${tenant}/enroll?token=${token}`)).status
    const own = (await app.gql(tenant, person.token, ENROL)).body.data.createViewerEnrollmentToken
    expect(await opened(own.token)).toBe(200)
    const ctx = await ctxFor(tenant)
    await revokeUserSessions(ctx, person.userId)
    expect(await opened(own.token)).toBe(410)
    // One that an administrator handed out is theirs to take back.
    const other = await newPerson()
    const handed = await createCredentialEnrollmentToken(ctx, other.userId, { send: false })
    await revokeUserSessions(ctx, other.userId)
    expect(await opened(handed.token)).toBe(200)
  })

  test('by a provider are proven one an operation, and a hundred an hour from one network (security 41)', async () => {
    const proof = '(input: {idpId: "real", idToken: "x"}) { __typename }'
    const aliased = `mutation { a: linkViewerIdpUser${proof} b: linkViewerIdpUser${proof} }`
    const { body } = await app.gql(tenant, person.token, aliased)
    expect(body.errors?.[0]?.extensions.code).toBe('QUERY_TOO_COMPLEX')
    const results = new Map<string, number>()
    for (let i = 0; i <= LIMITS.linkIdentity.points; i++) {
      const { data } = (await app.gql(tenant, person.token, `mutation { linkViewerIdpUser${proof} }`)).body
      const name: string = data.linkViewerIdpUser.__typename
      results.set(name, (results.get(name) ?? 0) + 1)
    }
    expect(results.get('RateLimitedError')).toBeGreaterThan(0)
    expect(results.get('ValidationError')).toBeGreaterThan(50)
  })

  test('of somebody else are not there (security 33)', async () => {
    const other = await newPerson()
    expect(await revoke(person, other.credentialId)).toEqual({ code: 'NOT_FOUND' })
    expect(await unlink(person, 'elsewhere')).toEqual({ code: 'NOT_FOUND' })
    expect(await methodsOf(other)).toEqual(both(other))
  })

  test('stay where only a token asks: it takes a sign-in of the last 15 minutes (security 16, 33)', async () => {
    await dbFor(tenant).session.update({
      where: { tenantId_id: { tenantId: tenant, id: person.sessionId } },
      data: { authenticatedAt: new Date(Date.now() - (RECENT_SIGN_IN_SECONDS + 5) * 1000) },
    })
    const tooOld = { code: 'FORBIDDEN', maxAgeSeconds: RECENT_SIGN_IN_SECONDS }
    expect(await revoke(person, person.credentialId)).toMatchObject(tooOld)
    expect(await unlink(person)).toMatchObject(tooOld)
    const link = await run(person, 'linkViewerIdpUser', '{idpId: "real", idToken: "x"}', '__typename')
    expect(link).toMatchObject(tooOld)
    expect((await app.gql(tenant, person.token, ENROL)).body.errors?.[0]?.extensions).toMatchObject(tooOld)
    expect(await methodsOf(person)).toEqual(both(person))
  })

  test('stay where they would be the last: a proven address must be left', async () => {
    await dbFor(tenant).user.update({
      where: { tenantId_id: { tenantId: tenant, id: person.userId } },
      data: { emailVerified: false },
    })
    expect(await revoke(person, person.credentialId)).toMatchObject({ fields: [{ field: 'credentialId' }] })
    expect(await unlink(person)).toMatchObject({ fields: [{ field: 'idpId' }] })
    expect(await methodsOf(person)).toEqual(both(person))
  })
})
