import { decodeJwt } from 'jose'
import { describe, expect } from 'vitest'
import { createPlatformCtx } from '../../../src/context/context.ts'
import { userinfoAudienceOf } from '../../../src/oidc/token/audience.ts'
import { updateSettings } from '../../../src/tenants/settings.ts'
import { decide, pollWith, startDevice } from '../../support/device-flow.ts'
import { answerIn } from '../../support/protocol.ts'
import { test as base } from '../../support/visitor.ts'

const SHOP = 'urn:shop'
const BANK = 'urn:bank'

const audienceIn = ({ access_token: token = '' }: Record<string, string>) => [decodeJwt(token).aud].flat()

const test = base
  .extend('setDefault', ({ tenant }) => (defaultAudience: string | null) => {
    return updateSettings(createPlatformCtx(tenant), { defaultAudience })
  })
  /** Signs a user in at a client, with consent if it asks, and returns the code. */
  .extend(
    'signInAt',
    ({ oidc, ownVisitor: { browser } }) =>
      async (client: { id: string; secret: string }) => {
        const { response, location, path } = await browser.open(
          oidc.authorizePath({ scope: 'openid offline_access' }, client),
        )
        if (location !== null) return answerIn(location).code ?? ''
        const html = await response.text()
        return answerIn((await browser.submit({ html, path }, { step: 'allow' })).location).code ?? ''
      },
  )

describe('the default audience of a tenant', () => {
  test('is not reached by a grant of before when the client asks for consent', async ({
    tenant,
    oidc,
    newClient,
    setDefault,
    signInAt,
  }) => {
    await setDefault(null)
    const client = await newClient({ requireConsent: true })
    const userinfo = userinfoAudienceOf(tenant)
    const [redeemed, pending] = [await signInAt(client), await signInAt(client)]
    const { body: granted } = await oidc.exchange(redeemed, {}, client)
    await setDefault(SHOP)
    const { body: refreshed } = await oidc.refresh(granted.refresh_token ?? '', {}, client)
    expect(audienceIn(refreshed)).toEqual([userinfo])
    const asked = await oidc.refresh(refreshed.refresh_token ?? '', { resource: SHOP }, client)
    expect([asked.status, asked.body.error]).toEqual([400, 'invalid_target'])
    const { body: late } = await oidc.exchange(pending, {}, client)
    expect(audienceIn(late)).toEqual([userinfo])
    // The user is asked, and the new grant reaches it.
    const { body: consented } = await oidc.exchange(await signInAt(client), {}, client)
    expect(audienceIn(consented)).toEqual([SHOP, userinfo])
  })

  test('is reached by a grant while it stays the one that the user has agreed to', async ({
    tenant,
    oidc,
    newClient,
    setDefault,
    signInAt,
  }) => {
    await setDefault(SHOP)
    const client = await newClient({ requireConsent: true })
    const userinfo = userinfoAudienceOf(tenant)
    let { body } = await oidc.exchange(await signInAt(client), {}, client)
    for (const [set, audience] of [
      [SHOP, [SHOP, userinfo]],
      [BANK, [userinfo]],
      [SHOP, [SHOP, userinfo]],
    ] as const) {
      await setDefault(set)
      body = (await oidc.refresh(body.refresh_token ?? '', {}, client)).body
      expect(audienceIn(body)).toEqual(audience)
    }
  })

  test('is reached at once by a client that asks for no consent, or serves that API itself', async ({
    oidc,
    newClient,
    setDefault,
    signInAt,
  }) => {
    await setDefault(null)
    for (const more of [{}, { requireConsent: true, resources: [SHOP] }]) {
      const client = await newClient(more)
      const { body: granted } = await oidc.exchange(await signInAt(client), {}, client)
      await setDefault(SHOP)
      const { body } = await oidc.refresh(granted.refresh_token ?? '', {}, client)
      expect(audienceIn(body)).toContain(SHOP)
      await setDefault(null)
    }
  })

  test('is not reached by a device that was approved before', async ({
    app,
    tenant,
    newClient,
    ownVisitor,
    setDefault,
  }) => {
    await setDefault(null)
    const tv = await newClient({ appType: 'native', callbacks: [], requireConsent: true })
    const { body: device } = await startDevice(app, tenant, tv, { scope: 'openid' })
    await decide(ownVisitor.browser, tenant, device.user_code ?? '', 'allow')
    await setDefault(SHOP)
    const { status, body } = await pollWith(app, tenant, tv, device.device_code ?? '')
    expect([status, audienceIn(body)]).toEqual([200, [userinfoAudienceOf(tenant)]])
  })
})
