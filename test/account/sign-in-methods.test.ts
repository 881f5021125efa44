import { describe, expect } from 'vitest'
import { STEP_UP_MAX_AGE_SECONDS } from '../../src/account/step-up.ts'
import { RATE_LIMITS } from '../../src/coordination/rate-limits.ts'
import { newId } from '../../src/core/crypto.ts'
import { createCredentialEnrollmentToken } from '../../src/credentials/enrollment-tokens.ts'
import { addIdpUser } from '../../src/idps/idp-links.ts'
import { createIdentityProvider } from '../../src/idps/idps.ts'
import { revokeUserSessions } from '../../src/sessions/revoke-sessions.ts'
import { test as base, setSignInAge } from '../support/account.ts'
import { dbFor } from '../support/database.ts'
import { doneBy, type SignedIn } from '../support/people.ts'
import { startUpstream } from '../support/upstream.ts'

type Owner = SignedIn & { credentialId: string; linkId: string }
const ENROLL =
  'mutation { createViewerEnrollmentToken(input: {}) { ... on CreateViewerEnrollmentTokenPayload { token uri } } }'
const METHODS = '{ viewer { user { credentials { nodes { id } } idpUsers { nodes { id idpId } } } } }'
const toMethods = ({ credentialId, linkId }: Owner) => ({
  credentials: { nodes: [{ id: credentialId }] },
  idpUsers: { nodes: [{ id: linkId, idpId: 'partner' }] },
})

/**
 * With users who have a credential and a linked identity at provider `partner`, and a provider `real` that
 * answers.
 */
const test = base
  .extend('upstream', { scope: 'file' }, async ({ app: _ }, { onCleanup }) => {
    const upstream = await startUpstream()
    onCleanup(upstream.close)
    return upstream
  })
  .extend('idps', { scope: 'file' }, async ({ ctx, upstream }) => {
    await createIdentityProvider(ctx, { id: 'partner', type: 'oauth2', name: 'Partner' })
    const { issuer, client } = upstream
    await createIdentityProvider(ctx, { id: 'real', type: 'oidc', name: 'Upstream', issuer, ...client })
    return ['partner', 'real']
  })
  .extend(
    'newOwner',
    { scope: 'file' },
    ({ tenant, ctx, idps: [partner = ''], newPerson, signIn }) =>
      async (): Promise<Owner> => {
        const { id: userId, email } = await newPerson()
        const credentialId = newId('cred')
        await dbFor(tenant).credential.create({
          data: { tenantId: tenant, id: credentialId, userId, externalId: credentialId },
        })
        const { id: linkId } = await addIdpUser(ctx, userId, partner, { externalId: email })
        return { ...(await signIn(email, { scope: 'openid account' })), credentialId, linkId }
      },
  )
  .extend('owner', ({ newOwner }) => newOwner())
  .extend(
    'revoke',
    { scope: 'file' },
    ({ mutate }) =>
      (by: SignedIn, credentialId: string) =>
        mutate(
          by,
          'revokeViewerCredential',
          { credentialId },
          '... on RevokeViewerCredentialPayload { revokedCredentialId }',
        ),
  )
  .extend(
    'unlink',
    { scope: 'file' },
    ({ mutate }) =>
      (by: SignedIn, idpId = 'partner') =>
        mutate(
          by,
          'unlinkViewerIdpUser',
          { idpId },
          '... on UnlinkViewerIdpUserPayload { unlinkedIdpUserId }',
        ),
  )
  .extend(
    'readMethods',
    { scope: 'file' },
    ({ gql }) =>
      async ({ token }: SignedIn) =>
        (await gql(METHODS, {}, { token })).body.data.viewer.user,
  )

describe('the sign-in methods of the viewer', () => {
  test('are listed and revoked, which the log records with the actor', async ({
    tenant,
    owner,
    revoke,
    unlink,
    readMethods,
  }) => {
    expect(await readMethods(owner)).toEqual(toMethods(owner))
    expect(await revoke(owner, owner.credentialId)).toMatchObject({ revokedCredentialId: owner.credentialId })
    expect(await unlink(owner)).toMatchObject({ unlinkedIdpUserId: owner.linkId })
    expect(await readMethods(owner)).toEqual({ credentials: { nodes: [] }, idpUsers: { nodes: [] } })
    expect(await revoke(owner, owner.credentialId)).toMatchObject({ code: 'NOT_FOUND' })
    expect(await unlink(owner)).toMatchObject({ code: 'NOT_FOUND' })
    const own = await doneBy(tenant, owner)
    expect(own).toMatchObject([
      { type: 'credential.revoked', userId: owner.userId, subjectIds: [owner.credentialId] },
      { type: 'idpuser.unlinked', userId: owner.userId, subjectIds: [owner.linkId, 'partner'] },
    ])
  })

  test('are added by a proven identity or an enrollment link', async ({
    tenant,
    gql,
    upstream,
    newOwner,
    owner,
    mutate,
  }) => {
    const { code, redirectUri, codeVerifier } = await upstream.codeFor(owner.userId)
    const link = (by: SignedIn) =>
      mutate(
        by,
        'linkViewerIdpUser',
        { idpId: 'real', code, redirectUri, codeVerifier },
        '... on LinkViewerIdpUserPayload { idpUser { userId externalId } }',
      )
    expect(await link(owner)).toMatchObject({ idpUser: { userId: owner.userId, externalId: owner.userId } })
    expect(await link(await newOwner())).toMatchObject({ fields: [{ field: 'code' }] })
    const made = await dbFor(tenant).idpUser.findFirst({
      where: { tenantId: tenant, idpId: 'real', userId: owner.userId },
    })
    expect(made).toMatchObject({ byManagement: false, issuer: upstream.issuer })
    const { body } = await gql(ENROLL, {}, { token: owner.token })
    const { token, uri } = body.data.createViewerEnrollmentToken
    expect(uri).toBe(`http://localhost:3000/${tenant}/enroll?token=${token}`)
    expect(
      await dbFor(tenant).enrollmentToken.findFirst({ where: { tenantId: tenant, userId: owner.userId } }),
    ).toMatchObject({
      userId: owner.userId,
      byManagement: false,
      sentTo: null,
    })
  })

  test('are not added by an enrollment link of a revoked session', async ({
    app,
    tenant,
    ctx,
    gql,
    newOwner,
    owner,
  }) => {
    const opened = async (token: string) => (await app.fetch(`/${tenant}/enroll?token=${token}`)).status
    const own = (await gql(ENROLL, {}, { token: owner.token })).body.data.createViewerEnrollmentToken
    expect(await opened(own.token)).toBe(200)
    await revokeUserSessions(ctx, owner.userId)
    expect(await opened(own.token)).toBe(410)
    // A link that a client of the tenant created does not depend on a session of the user.
    const other = await newOwner()
    const handed = await createCredentialEnrollmentToken(ctx, other.userId, { send: false })
    await revokeUserSessions(ctx, other.userId)
    expect(await opened(handed.token)).toBe(200)
  })

  test('are linked at most once in an operation and a hundred times an hour from one network', async ({
    gql,
    owner,
    newOwner,
  }) => {
    // A user tries 30 times.
    const owners = [owner, await newOwner(), await newOwner(), await newOwner()]
    const proof = '(input: {idpId: "real", idToken: "x"}) { __typename }'
    const aliased = `mutation { a: linkViewerIdpUser${proof} b: linkViewerIdpUser${proof} }`
    const { body } = await gql(aliased, {}, { token: owner.token })
    expect(body.errors?.[0]?.extensions.code).toBe('QUERY_TOO_COMPLEX')
    const results = new Map<string, number>()
    for (let i = 0; i <= RATE_LIMITS.linkIdentity.points; i++) {
      const { data } = (
        await gql(`mutation { linkViewerIdpUser${proof} }`, {}, { token: owners[i % 4]?.token ?? '' })
      ).body
      const name: string = data.linkViewerIdpUser.__typename
      results.set(name, (results.get(name) ?? 0) + 1)
    }
    expect(results.get('RateLimitedError')).toBeGreaterThan(0)
    expect(results.get('ValidationError')).toBeGreaterThan(50)
  })

  test('do not include those of another user', async ({ newOwner, owner, revoke, unlink, readMethods }) => {
    const other = await newOwner()
    expect(await revoke(owner, other.credentialId)).toMatchObject({ code: 'NOT_FOUND' })
    expect(await unlink(owner, 'elsewhere')).toMatchObject({ code: 'NOT_FOUND' })
    expect(await readMethods(other)).toEqual(toMethods(other))
  })

  test('are unchanged when the sign-in is older than 15 minutes', async ({
    tenant,
    owner,
    revoke,
    unlink,
    readMethods,
    mutate,
  }) => {
    await setSignInAge(tenant, owner, STEP_UP_MAX_AGE_SECONDS + 5)
    const tooOld = { code: 'FORBIDDEN', maxAgeSeconds: STEP_UP_MAX_AGE_SECONDS }
    expect(await revoke(owner, owner.credentialId)).toMatchObject(tooOld)
    expect(await unlink(owner)).toMatchObject(tooOld)
    const link = await mutate(owner, 'linkViewerIdpUser', { idpId: 'real', idToken: 'x' })
    expect(link).toMatchObject(tooOld)
    const enroll = await mutate(owner, 'createViewerEnrollmentToken', {})
    expect(enroll).toMatchObject(tooOld)
    expect(await readMethods(owner)).toEqual(toMethods(owner))
  })

  test('are unchanged when the user has no verified address', async ({
    tenant,
    owner,
    revoke,
    unlink,
    readMethods,
  }) => {
    await dbFor(tenant).user.update({
      where: { tenantId_id: { tenantId: tenant, id: owner.userId } },
      data: { emailVerified: false },
    })
    expect(await revoke(owner, owner.credentialId)).toMatchObject({ fields: [{ field: 'credentialId' }] })
    expect(await unlink(owner)).toMatchObject({ fields: [{ field: 'idpId' }] })
    expect(await readMethods(owner)).toEqual(toMethods(owner))
  })
})
