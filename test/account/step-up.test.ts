import { describe, expect } from 'vitest'
import { STEP_UP_MAX_AGE_SECONDS } from '../../src/account/step-up.ts'
import { takeAnnouncedChange, takeChange } from '../../src/coordination/person-budgets.ts'
import { newId } from '../../src/core/crypto.ts'
import { StepUpRequired } from '../../src/core/errors.ts'
import { getRoleScopes } from '../../src/core/scopes.ts'
import { updateSettings } from '../../src/tenants/settings.ts'
import { setUserRoles } from '../../src/users/roles.ts'
import { bindMutate, mayDemandStepUp, resetCooldown, setSignInAge } from '../support/account.ts'
import { test } from '../support/address-change.ts'
import { dbFor } from '../support/database.ts'
import { makeSpa } from '../support/people.ts'
import { findRule, rootFields } from '../support/schema.ts'

/** The input of each mutation of the own account. None is right but for its form. */
const INPUTS: Record<string, object> = {
  updateViewer: { name: 'Ada' },
  requestEmailChange: { email: 'new@step-up.example' },
  requestPhoneNumberChange: { phoneNumber: '+41791112299' },
  confirmEmailChange: { email: 'new@step-up.example', code: '000000' },
  confirmPhoneNumberChange: { phoneNumber: '+41791112299', code: '000000' },
  removeViewerPhoneNumber: { phoneNumber: '+41791112299' },
  setViewerDeletion: { requested: true },
  revokeViewerSession: { sessionId: newId('session') },
  revokeViewerSessions: {},
  revokeViewerConsent: { clientId: newId('client') },
  createViewerEnrollmentToken: {},
  createViewerApiKey: { name: 'CI' },
  rotateViewerApiKey: { apiKeyId: newId('apikey') },
  revokeViewerApiKey: { apiKeyId: newId('apikey') },
  acceptViewerInvitation: { invitationId: newId('invitation') },
  declineViewerInvitation: { invitationId: newId('invitation') },
  leaveViewerOrganization: { organizationId: newId('organization') },
  linkViewerIdpUser: { idpId: 'acme', idToken: 'x' },
  revokeViewerCredential: { credentialId: newId('cred') },
  unlinkViewerIdpUser: { idpId: 'acme' },
  createViewerTotp: {},
  confirmViewerTotp: { token: 'x', code: '000000' },
  createViewerRecoveryCodes: {},
}

describe('a mutation of the own account', () => {
  const own = rootFields.filter(([, kind, field]) => kind === 'mutation' && findRule(field)?.account)
  const names = own.map(([, , field]) => field.name)

  test.for(names.filter(mayDemandStepUp))(
    '%s with an old sign-in is answered with StepUpRequiredError',
    async (name, { tenant, ctx, gql, newHolder }) => {
      await updateSettings(ctx, { accountDeletionDays: 14, userApiKeys: true })
      const holder = await newHolder()
      await setSignInAge(tenant, holder, STEP_UP_MAX_AGE_SECONDS + 5)
      expect(await bindMutate(gql)(holder, name, INPUTS[name] ?? {})).toMatchObject({
        __typename: 'StepUpRequiredError',
        maxAgeSeconds: STEP_UP_MAX_AGE_SECONDS,
        acrValues: null,
      })
    },
  )

  test('above the budget of its user is answered with RateLimitedError', async ({
    tenant,
    gql,
    newHolder,
  }) => {
    const holder = await newHolder()
    const user = { userId: holder.userId, grantId: 'any' }
    for (const [take, limit] of [
      [takeAnnouncedChange, 30],
      [takeChange, 300],
    ] as const)
      for (let n = 0; n < limit; n++) take(tenant, user)
    for (const name of names)
      expect(
        await bindMutate(gql)(
          holder,
          name,
          INPUTS[name] ?? {},
          '... on RateLimitedError { retryAfterSeconds }',
        ),
        name,
      ).toMatchObject({ __typename: 'RateLimitedError', retryAfterSeconds: expect.any(Number) })
  })

  test('has the challenge of RFC 9470 in the answer that names its status', () => {
    expect(new StepUpRequired(900, 'urn:vestibule:mfa')).toMatchObject({
      status: 403,
      headers: {
        'www-authenticate':
          'Bearer error="insufficient_user_authentication", max_age="900", acr_values="urn:vestibule:mfa"',
      },
    })
  })

  test.for(names.filter((name) => !mayDemandStepUp(name)))(
    '%s with an old sign-in is not rejected for its age',
    async (name, { tenant, gql, newHolder }) => {
      const holder = await newHolder()
      await setSignInAge(tenant, holder, STEP_UP_MAX_AGE_SECONDS + 5)
      const { code } = await bindMutate(gql)(holder, name, INPUTS[name] ?? {})
      expect(code).not.toBe('FORBIDDEN')
    },
  )
})

describe('an old password alone', () => {
  test('does not count as a recent sign-in, since others may know it', async ({ tenant, gql, newHolder }) => {
    const holder = await newHolder()
    const setAmr = (amr: string[]) =>
      dbFor(tenant).grant.updateMany({
        where: { tenantId: tenant, sessionId: holder.sessionId },
        data: { amr },
      })
    const begin = () => bindMutate(gql)(holder, 'createViewerTotp', {})
    await setAmr(['pwd'])
    expect(await begin()).toMatchObject({
      __typename: 'StepUpRequiredError',
      acrValues: 'urn:vestibule:otp',
    })
    await setAmr(['pwd', 'otp', 'mfa'])
    expect(await begin()).toMatchObject({ __typename: 'CreateViewerTotpPayload' })
  })
})

describe('a change of an address', () => {
  const tooOld = {
    __typename: 'StepUpRequiredError',
    code: 'FORBIDDEN',
    maxAgeSeconds: STEP_UP_MAX_AGE_SECONDS,
    acrValues: null,
  }

  test('requires a sign-in of the last 15 minutes and reports the maximum age', async ({
    tenant,
    gql,
    inbox,
    signIn,
    fresh,
    newHolder,
    run,
    findUser,
  }) => {
    const holder = await newHolder({ phoneNumber: '+41791112202', phoneNumberVerified: true })
    await setSignInAge(tenant, holder, STEP_UP_MAX_AGE_SECONDS + 5)
    expect(await run(holder, 'requestEmailChange', { email: fresh })).toMatchObject(tooOld)
    expect(await run(holder, 'requestPhoneNumberChange', { phoneNumber: '+41791112203' })).toMatchObject(
      tooOld,
    )
    expect(await run(holder, 'removeViewerPhoneNumber', { phoneNumber: '+41791112202' })).toMatchObject(
      tooOld,
    )
    expect(await inbox.list(fresh)).toEqual([])
    expect(await findUser(holder)).toMatchObject({ email: holder.email, phoneNumber: '+41791112202' })
    // The browser has a session; max_age requires another sign-in.
    await resetCooldown(tenant, holder.email)
    const parameters = { max_age: String(STEP_UP_MAX_AGE_SECONDS) }
    const again = await signIn(holder.email, {
      browser: holder.browser,
      scope: 'openid account',
      parameters,
    })
    expect(await run(again, 'requestEmailChange', { email: fresh })).toMatchObject({ sentTo: fresh })
    // The session goes on, but the old token was issued for the old sign-in: it may have been stolen.
    expect(again.sessionId).toBe(holder.sessionId)
    expect((await gql('{ viewer { scopes } }', {}, { token: holder.token })).status).toBe(200)
    expect(await run(holder, 'requestEmailChange', { email: fresh })).toMatchObject(tooOld)
  })

  test('is rejected with a refreshed token of an old sign-in', async ({
    app,
    tenant,
    spa,
    fresh,
    newHolder,
    run,
  }) => {
    const holder = await newHolder({ scope: 'openid account offline_access' })
    await setSignInAge(tenant, holder, STEP_UP_MAX_AGE_SECONDS + 5)
    const response = await app.fetch(`/${tenant}/oidc/token`, {
      method: 'POST',
      body: new URLSearchParams({
        grant_type: 'refresh_token',
        client_id: spa.id,
        refresh_token: holder.answer.refresh_token ?? '',
      }),
    })
    const { access_token: token } = (await response.json()) as { access_token: string }
    expect(await run({ token }, 'requestEmailChange', { email: fresh })).toMatchObject(tooOld)
    expect(await run({ token }, 'updateViewer', { name: 'Ada' })).toMatchObject({
      __typename: 'UpdateViewerPayload',
    })
  })

  test('of a user with a role requires a token with the scopes of the role', async ({
    tenant,
    inbox,
    fresh,
    newHolder,
    lastCode,
    run,
  }) => {
    const plain = await newHolder({ roles: ['support'] })
    const [error] = (await run(plain, 'requestEmailChange', { email: fresh })).errors ?? []
    expect(error).toMatchObject({ extensions: { code: 'FORBIDDEN' } })
    expect(error?.message).toContain('users:write')
    expect(await inbox.list(fresh)).toEqual([])
    const scopes = [...getRoleScopes(['support'])]
    const frontend = await makeSpa(tenant, { scopes })
    const able = await newHolder({
      roles: ['support'],
      scope: `openid account ${scopes.join(' ')}`,
      client: frontend,
    })
    expect(await run(able, 'requestEmailChange', { email: fresh })).toMatchObject({ sentTo: fresh })
    const code = await lastCode(fresh)
    expect(await run(able, 'confirmEmailChange', { email: fresh, code })).toMatchObject({
      user: { email: fresh },
    })
  })

  test('is not confirmed when the user is given a role after the request', async ({
    ctx,
    fresh,
    holder,
    lastCode,
    run,
    findUser,
  }) => {
    await run(holder, 'requestEmailChange', { email: fresh })
    const code = await lastCode(fresh)
    await setUserRoles(ctx, holder.userId, { roles: ['admin'] })
    const { errors } = await run(holder, 'confirmEmailChange', { email: fresh, code })
    expect(errors).toMatchObject([{ extensions: { code: 'FORBIDDEN' } }])
    expect(await findUser(holder)).toMatchObject({ email: holder.email })
  })
})
