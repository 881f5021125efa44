import { describe, expect } from 'vitest'
import '../../src/account/confirm-address-change.ts'
import '../../src/account/request-address-change.ts'
import { apiAudienceOf } from '../../src/core/issuer.ts'
import { SCOPE_NAMES } from '../../src/core/scopes.ts'
import { issueAccessToken } from '../../src/oidc/token/access-tokens.ts'
import { userinfoAudienceOf } from '../../src/oidc/token/audience.ts'
import { endSession } from '../../src/sessions/sessions.ts'
import { updateSettings } from '../../src/tenants/settings.ts'
import { lockUser } from '../../src/users/users.ts'
import { ctxFor, newTenant } from '../support/actors.ts'
import { dbFor } from '../support/database.ts'
import { test as base } from '../support/fixtures.ts'
import { makeSpa, type PersonClient, type SignedIn, signInAs } from '../support/people.ts'
import { makeUser } from '../support/protocol.ts'

/** The input of every mutation that needs scope `account`, by name. */
const MUTATIONS: Record<string, string> = {
  updateViewer: '{nickname: "Eve"}',
  requestEmailChange: '{email: "eve@example.com"}',
  confirmEmailChange: '{email: "eve@example.com", code: "000000"}',
  requestPhoneNumberChange: '{phoneNumber: "+41791112233"}',
  confirmPhoneNumberChange: '{phoneNumber: "+41791112233", code: "000000"}',
  removeViewerPhoneNumber: '{phoneNumber: "+41791112233"}',
  revokeViewerSession: '{sessionId: "session_01m7xeb1sbendby702xerkqv3p"}',
  revokeViewerSessions: '{includeCurrent: true}',
  revokeViewerCredential: '{credentialId: "cred_01m7xeb1sbendby702xerkqv3p"}',
  unlinkViewerIdpUser: '{idpId: "partner"}',
  linkViewerIdpUser: '{idpId: "partner", idToken: "x"}',
  createViewerEnrollmentToken: '{}',
  createViewerTotp: '{}',
  confirmViewerTotp: '{token: "x", code: "000000"}',
  createViewerRecoveryCodes: '{}',
  setViewerDeletion: '{requested: false}',
  createViewerApiKey: '{name: "CI", scopes: []}',
  rotateViewerApiKey: '{apiKeyId: "apikey_01m7xeb1sbendby702xerkqv3p"}',
  revokeViewerApiKey: '{apiKeyId: "apikey_01m7xeb1sbendby702xerkqv3p"}',
  revokeViewerConsent: '{clientId: "client_01m7xeb1sbendby702xerkqv3p"}',
  acceptViewerInvitation: '{invitationId: "invitation_01m7xeb1sbendby702xerkqv3p"}',
  declineViewerInvitation: '{invitationId: "invitation_01m7xeb1sbendby702xerkqv3p"}',
  leaveViewerOrganization: '{organizationId: "organization_01m7xeb1sbendby702xerkqv3p"}',
}
const toMutation = (name: string) => `mutation { ${name}(input: ${MUTATIONS[name]}) { __typename } }`

const READ_VIEWER =
  '{ viewer { user { id email sessions { nodes { id } } consents { nodes { clientId } } } session { id } scopes } }'
const CHANGE_VIEWER =
  'mutation { updateViewer(input: {nickname: "Ada"}) { ... on UpdateViewerPayload { user { nickname } } } }'

/** With users of the file's tenant or of another one. */
const test = base
  .extend('makeSignedIn', { scope: 'file' }, ({ app, tenant, spa }) => {
    let count = 0
    type Options = { at?: string; client?: PersonClient; parameters?: Record<string, string> }
    return async (scope: string, { at = tenant, client = spa, parameters = {} }: Options = {}) => {
      const email = `user${++count}@${at}.example`
      await makeUser(at, email)
      return { email, ...(await signInAs(app, at, client, email, { scope, parameters })) }
    }
  })
  .extend('readNickname', { scope: 'file' }, ({ tenant }) => async ({ userId }: SignedIn, at = tenant) => {
    const user = await dbFor(at).user.findFirstOrThrow({ where: { tenantId: at, id: userId } })
    return user.nickname
  })
  .extend(
    'expectForbidden',
    { scope: 'file' },
    ({ gql }) =>
      async (token: string, name: string, message: RegExp) => {
        const { body } = await gql(toMutation(name), {}, { token })
        expect(body).toMatchObject({
          data: { [name]: null },
          errors: [{ message: expect.stringMatching(message), extensions: { code: 'FORBIDDEN' } }],
        })
      },
  )

describe('the viewer', () => {
  test('is read with scope account, and with no token that has neither it nor a management scope', async ({
    tenant,
    gql,
    makeSignedIn,
  }) => {
    const plain = await makeSignedIn('openid profile')
    expect(plain.audience).toEqual([userinfoAudienceOf(tenant)])
    expect((await gql(READ_VIEWER, {}, { token: plain.token })).status).toBe(401)
    const person = await makeSignedIn('openid account')
    expect(person.audience).toEqual([apiAudienceOf(tenant), userinfoAudienceOf(tenant)])
    expect((await gql(READ_VIEWER, {}, { token: person.token })).body).toMatchObject({
      data: {
        viewer: {
          user: {
            id: person.userId,
            email: person.email,
            sessions: { nodes: [{ id: person.sessionId }] },
          },
          session: { id: person.sessionId },
          scopes: [],
        },
      },
    })
  })

  test('is read with no token for the default audience of the tenant, nor for an API beside it', async ({
    gql,
    makeSignedIn,
  }) => {
    const other = await newTenant()
    await updateSettings(await ctxFor(other), { defaultAudience: 'https://api.example.com' })
    const client = await makeSpa(other)
    const status = async ({ token }: SignedIn) =>
      (await gql(READ_VIEWER, {}, { tenant: other, token })).status
    const elsewhere = await makeSignedIn('openid profile', { at: other, client })
    expect(elsewhere.audience).toEqual(['https://api.example.com', userinfoAudienceOf(other)])
    expect(await status(elsewhere)).toBe(401)
    const account = await makeSignedIn('openid account', { at: other, client })
    expect(account.audience).toEqual([apiAudienceOf(other), userinfoAudienceOf(other)])
    expect(await status(account)).toBe(200)
    const parameters = { resource: apiAudienceOf(other) }
    const unentitled = await makeSignedIn('openid', { at: other, client, parameters })
    expect(unentitled.audience).toEqual([userinfoAudienceOf(other)])
    // A token of an earlier version, for both.
    const both = await issueAccessToken(other, {
      subject: account.userId,
      clientId: client.id,
      scopes: ['openid', 'account'],
      audience: ['https://api.example.com', apiAudienceOf(other)],
      lifetimeSeconds: 600,
      sessionId: account.sessionId,
    })
    expect(await status({ ...account, token: both })).toBe(401)
  })

  test('is changed with scope account', async ({ gql, makeSignedIn }) => {
    const person = await makeSignedIn('openid account')
    expect((await gql(CHANGE_VIEWER, {}, { token: person.token })).body.data.updateViewer.user.nickname).toBe(
      'Ada',
    )
  })
})

describe('a mutation of the viewer', () => {
  test('is in the table of this file when its description names scope account', async ({ gql }) => {
    const { body } = await gql('{ __schema { mutationType { fields { name description } } } }')
    const fields = body.data.__schema.mutationType.fields as { name: string; description: string }[]
    const own = fields.filter(({ description }) => description.includes('scope account.'))
    expect(own.map(({ name }) => name).sort()).toEqual(Object.keys(MUTATIONS).sort())
  })

  test.for(Object.keys(MUTATIONS))(
    '%s rejects a token without scope account that has every other scope',
    async (name, { tenant, spa, makeSignedIn, readNickname, expectForbidden }) => {
      const plain = await makeSignedIn('openid profile email phone address session')
      const everything = await issueAccessToken(tenant, {
        subject: plain.userId,
        clientId: spa.id,
        scopes: SCOPE_NAMES,
        audience: [apiAudienceOf(tenant)],
        lifetimeSeconds: 600,
        sessionId: plain.sessionId,
      })
      await expectForbidden(everything, name, /scope account/)
      expect(await readNickname(plain)).toBeNull()
    },
  )

  test.for(Object.keys(MUTATIONS))(
    '%s rejects the token of a machine client',
    async (name, { token, expectForbidden }) => {
      await expectForbidden(token, name, /needs the access token of a user/)
    },
  )

  test('rejects the token of a locked user', async ({ ctx, gql, makeSignedIn, readNickname }) => {
    const person = await makeSignedIn('openid account')
    await lockUser(ctx, person.userId)
    expect((await gql(CHANGE_VIEWER, {}, { token: person.token })).status).toBe(401)
    expect(await readNickname(person)).toBeNull()
  })

  test('rejects the token of an ended session', async ({ ctx, gql, makeSignedIn, readNickname }) => {
    const person = await makeSignedIn('openid account')
    await endSession(ctx, person.sessionId, 'logout')
    expect((await gql(CHANGE_VIEWER, {}, { token: person.token })).status).toBe(401)
    expect(await readNickname(person)).toBeNull()
  })

  test('rejects the token of a user of another tenant', async ({ gql, makeSignedIn, readNickname }) => {
    const other = await newTenant()
    const person = await makeSignedIn('openid account', { at: other, client: await makeSpa(other) })
    expect((await gql(CHANGE_VIEWER, {}, { token: person.token })).status).toBe(401)
    expect(await readNickname(person, other)).toBeNull()
  })
})
