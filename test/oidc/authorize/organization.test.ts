import { decodeJwt } from 'jose'
import * as openid from 'openid-client'
import { describe, expect } from 'vitest'
import { updateClient } from '../../../src/clients/client-changes.ts'
import { explainSignIn } from '../../../src/oidc/explain/explain-sign-in.ts'
import { previewToken } from '../../../src/oidc/explain/preview-token.ts'
import { ctxFor } from '../../support/actors.ts'
import { decide, enterCode, pollWith, startDevice } from '../../support/device-flow.ts'
import { test as base, startRequest } from '../../support/openid-client.ts'
import { signInAt } from '../../support/protocol.ts'
import { countWarmStatements, leastStatements } from '../../support/statements.ts'

const SCOPE = { scope: 'openid offline_access' }
const NO_MEMBER = {
  error: 'access_denied',
  error_description: 'The user is not a member of the organization.',
}

/** The organization that a token is for. */
const readOrganization = (token: unknown): unknown[] => {
  const { org_id, org_slug } = decodeJwt(token as string)
  return [org_id, org_slug]
}

const test = base
  .extend('newOrganization', { scope: 'file' }, ({ create, tenant }) => {
    let count = 0
    return async (...members: { id: string }[]) => {
      const slug = `${tenant}-${++count}`.slice(-60)
      const organization = (await create('/organizations', { slug, name: `Organization ${count}` })) as {
        id: string
        slug: string
        name: string
      }
      for (const { id } of members) await create(`/organizations/${organization.id}/members`, { userId: id })
      return organization
    }
  })
  .extend('leave', { scope: 'file' }, ({ rest }) => async (organization: { id: string }) => {
    const { body } = await rest('GET', `/organizations/${organization.id}/members`)
    for (const { id } of body.memberships) await rest('DELETE', `/memberships/${id}`)
  })
  .extend('asking', { scope: 'file' }, ({ newClient }) => newClient({ organization: 'ask' }))
  .extend('requiring', { scope: 'file' }, ({ newClient }) => newClient({ organization: 'required' }))
  .extend('member', ({ newVisitor }) => newVisitor())
  .extend('first', ({ newOrganization, member }) => newOrganization(member.user))
  .extend('second', ({ newOrganization, member }) => newOrganization(member.user))

describe('the parameter organization', () => {
  test('names the organization of the tokens by its id or slug, without a new sign-in', async ({
    member,
    first,
    second,
  }) => {
    expect(readOrganization((await member.newTokens(SCOPE)).access_token)).toEqual([undefined, undefined])
    for (const [name, { id, slug }] of [
      [first.id, first],
      [second.slug, second],
    ] as const) {
      const tokens = await member.newTokens({ ...SCOPE, organization: name })
      expect(readOrganization(tokens.access_token)).toEqual([id, slug])
      expect(readOrganization(tokens.id_token)).toEqual([id, slug])
    }
  })

  test('does not reveal whether the organization of a stranger exists', async ({
    member,
    newPerson,
    newOrganization,
  }) => {
    const { id, slug } = await newOrganization(await newPerson())
    for (const organization of [id, slug, 'nobody', 'organization_01k7r3m8wxe4gbr5v2c9t6hznq', "' OR 1=1"])
      expect(await member.authorize({ ...SCOPE, organization })).toMatchObject(NO_MEMBER)
    expect(await member.authorize({ ...SCOPE, organization: 'x'.repeat(101) })).toMatchObject({
      error: 'invalid_request',
    })
  })

  test('costs no statement', async ({ member, first, oidc }) => {
    const request = { ...SCOPE, organization: first.slug }
    expect(await leastStatements(() => member.authorize(request))).toBe(1)
    const code = await member.newCode(request)
    const earlier = await member.newCode(request)
    expect(
      await countWarmStatements(
        () => oidc.exchange(earlier),
        () => oidc.exchange(code),
      ),
    ).toBe(1)
    const { refresh_token: token, access_token } = await member.newTokens(request)
    expect(await leastStatements(() => oidc.refresh(token))).toBe(1)
    expect(await leastStatements(() => oidc.userinfo(access_token))).toBe(1)
  })
})

describe('a client that asks for the organization', () => {
  test('gets the only one of a member, and none of a user without one', async ({
    member,
    first,
    asking,
    newVisitor,
  }) => {
    expect(readOrganization((await member.newTokens(SCOPE, asking)).id_token)).toEqual([first.id, first.slug])
    const stranger = await newVisitor()
    expect(readOrganization((await stranger.newTokens(SCOPE, asking)).id_token)).toEqual([
      undefined,
      undefined,
    ])
  })

  test('lets a member of several choose on a page, and remembers the choice in the session', async ({
    member,
    first,
    second,
    asking,
    oidc,
  }) => {
    expect(await member.authorize(SCOPE, asking)).toMatchObject({ error: 'interaction_required' })
    const page = await member.browser.open(oidc.authorizePath(SCOPE, asking))
    expect(page.path).toMatch(/\/organization$/)
    const html = await page.response.text()
    expect(html).toContain(first.slug)
    const foreign = await member.browser.submit(
      { ...page, html },
      { step: 'organization', organization: 'organization_x' },
    )
    expect(foreign.path).toMatch(/\/organization$/)
    const again = { ...foreign, html: await foreign.response.text() }
    const { location } = await member.browser.submit(again, { step: 'organization', organization: second.id })
    const { body } = await oidc.exchange(new URL(location ?? '').searchParams.get('code') ?? '', {}, asking)
    expect(readOrganization(body.access_token)).toEqual([second.id, second.slug])
    expect(readOrganization((await member.newTokens(SCOPE, asking)).access_token)).toEqual([
      second.id,
      second.slug,
    ])
    const select = { ...SCOPE, prompt: 'select_account' }
    const accounts = await member.browser.open(oidc.authorizePath(select, asking))
    expect(accounts.path).toMatch(/\/select$/)
  })

  test('rejects users without one where it is required', async ({ member, requiring, newOrganization }) => {
    expect(await member.authorize(SCOPE, requiring)).toMatchObject(NO_MEMBER)
    const { id, slug } = await newOrganization(member.user)
    expect(readOrganization((await member.newTokens(SCOPE, requiring)).id_token)).toEqual([id, slug])
  })

  test('is that of a device, which its user names, chooses or is denied for', async ({
    app,
    tenant,
    member,
    first,
    second,
    requiring,
    leave,
    newVisitor,
    oidc,
  }) => {
    const start = async (form: Record<string, string> = {}) => {
      const { body } = await startDevice(app, tenant, requiring, { ...SCOPE, ...form })
      return { shown: body.user_code as string, code: body.device_code as string }
    }
    const poll = (device: { code: string }) => pollWith(app, tenant, requiring, device.code)
    const named = await start({ organization: first.slug })
    const asked = await enterCode(member.browser, tenant, named.shown)
    expect(asked.html).toMatch(new RegExp(`For the organization .*${first.name}`))
    expect((await member.browser.submit(asked, { step: 'allow' })).path).toMatch(/approved$/)
    const { body } = await poll(named)
    expect(readOrganization(body.access_token)).toEqual([first.id, first.slug])
    expect((await oidc.refresh(body.refresh_token as string, {}, requiring)).status).toBe(200)
    // It chooses after the code was entered, before the consent.
    const device = await start()
    const page = await enterCode(member.browser, tenant, device.shown)
    expect(page.path).toMatch(/\/organization$/)
    const chosen = await member.browser.submit(page, { step: 'organization', organization: second.id })
    const consent = { ...chosen, html: await chosen.response.text() }
    expect((await member.browser.submit(consent, { step: 'allow' })).path).toMatch(/approved$/)
    const removed = await start({ organization: second.id })
    await decide(member.browser, tenant, removed.shown, 'allow')
    expect(readOrganization((await poll(device)).body.id_token)).toEqual([second.id, second.slug])
    await leave(second)
    expect((await poll(removed)).body).toMatchObject({ error: 'invalid_grant' })
    const stranger = await newVisitor()
    for (const form of [{ organization: first.slug }, { organization: 'no-such' }, {}] as Record<
      string,
      string
    >[]) {
      const denied = await start(form)
      expect((await enterCode(stranger.browser, tenant, denied.shown)).path).toMatch(/denied$/)
      expect((await poll(denied)).body).toMatchObject({ error: 'access_denied' })
    }
    const tooLong = await startDevice(app, tenant, requiring, { organization: 'x'.repeat(101) })
    expect(tooLong.body).toMatchObject({ error: 'invalid_request' })
  })

  test('is explained and previewed', async ({ ctx, member, requiring, newOrganization }) => {
    const input = { userId: member.user.id, clientId: requiring.id }
    expect((await explainSignIn(ctx, input)).steps).toContainEqual(
      expect.objectContaining({ check: 'organization', outcome: 'failed', error: 'access_denied' }),
    )
    const { id, slug } = await newOrganization(member.user)
    expect((await explainSignIn(ctx, input)).steps).toContainEqual(
      expect.objectContaining({
        check: 'organization',
        outcome: 'passed',
        rule: 'clientOrganization',
        values: [slug],
      }),
    )
    const { accessToken } = await previewToken(ctx, { ...input, organization: slug })
    expect(accessToken).toMatchObject({ org_id: id, org_slug: slug })
    await expect(previewToken(ctx, { ...input, organization: 'nobody' })).rejects.toMatchObject({
      status: 400,
    })
  })

  test('is explained and previewed to callers only who may read organizations', async ({
    tenant,
    member,
    first,
    asking,
  }) => {
    const caller = await ctxFor(tenant, ['users:read', 'clients:read', 'events:read'])
    const input = { userId: member.user.id, clientId: asking.id }
    for (const answer of [
      () => explainSignIn(caller, input),
      () => previewToken(caller, { ...input, organization: first.slug }),
    ])
      await expect(answer()).rejects.toMatchObject({ message: 'This needs the scope organizations:read.' })
    expect((await previewToken(caller, input)).accessToken).not.toHaveProperty('org_id')
  })

  test('is read by openid-client', async ({
    requiring,
    discover,
    newBrowser,
    newPerson,
    newOrganization,
  }) => {
    const user = await newPerson()
    const { id, slug } = await newOrganization(user)
    const config = await discover(requiring)
    const { path, checks } = await startRequest(config, { scope: 'openid', organization: slug })
    const { location } = await signInAt(newBrowser(), path, user.email)
    const tokens = await openid.authorizationCodeGrant(config, new URL(location ?? ''), checks)
    expect(tokens.claims()).toMatchObject({ org_id: id, org_slug: slug })
  })
})

test('sessions are listed by the organizations that they received tokens for, while the user is a member', async ({
  member,
  first,
  second,
  oidc,
  rest,
  leave,
}) => {
  const list = async ({ id }: { id: string }) => {
    const { body } = await rest('GET', `/sessions?organizationId=${id}`)
    expect(body.totalSize).toBe(body.sessions.length)
    return body.sessions.map((session: { userId: string }) => session.userId)
  }
  const tokens = await member.newTokens({ ...SCOPE, organization: first.id })
  await member.newTokens({ ...SCOPE, organization: first.id })
  expect([await list(first), await list(second)]).toEqual([[member.user.id], []])
  await oidc.refresh(tokens.refresh_token, { organization: second.slug })
  expect([await list(first), await list(second)]).toEqual([[member.user.id], [member.user.id]])
  await leave(first)
  expect([await list(first), await list(second)]).toEqual([[], [member.user.id]])
  const scopes = ['sessions:read'] as const
  expect(await rest('GET', `/sessions?organizationId=${second.id}`, undefined, { scopes })).toMatchObject({
    status: 403,
    body: { message: 'This needs the scope organizations:read.' },
  })
})

describe('a refresh', () => {
  test('changes the organization to another one of the user, and to no other', async ({
    member,
    first,
    second,
    oidc,
    newPerson,
    newOrganization,
  }) => {
    const foreign = await newOrganization(await newPerson())
    const tokens = await member.newTokens({ ...SCOPE, organization: first.id })
    for (const organization of [foreign.id, foreign.slug, 'nobody'])
      expect(await oidc.refresh(tokens.refresh_token, { organization })).toMatchObject({
        status: 400,
        body: {
          error: 'invalid_grant',
          error_description: 'The user is not, or no longer, a member of the organization.',
        },
      })
    // The rejected requests have not used the token.
    const { body } = await oidc.refresh(tokens.refresh_token, { organization: second.slug })
    expect(readOrganization(body.access_token)).toEqual([second.id, second.slug])
    expect(readOrganization((await oidc.refresh(body.refresh_token as string)).body.access_token)).toEqual([
      second.id,
      second.slug,
    ])
  })

  test('keeps the organization where the client asks for consent', async ({
    member,
    first,
    second,
    newClient,
    oidc,
  }) => {
    const client = await newClient({ requireConsent: true })
    const page = await member.browser.open(oidc.authorizePath({ ...SCOPE, organization: first.id }, client))
    await member.browser.submit({ ...page, html: await page.response.text() }, { step: 'allow' })
    const tokens = await member.newTokens({ ...SCOPE, organization: first.id }, client)
    expect(await oidc.refresh(tokens.refresh_token, { organization: second.slug }, client)).toMatchObject({
      status: 400,
      body: { error_description: 'The user is not, or no longer, a member of the organization.' },
    })
    const { body } = await oidc.refresh(tokens.refresh_token, { organization: first.slug }, client)
    expect(readOrganization(body.access_token)).toEqual([first.id, first.slug])
  })

  test('needs an organization once the client requires one', async ({
    ctx,
    member,
    first,
    newClient,
    oidc,
  }) => {
    const client = await newClient()
    const tokens = await member.newTokens(SCOPE, client)
    await updateClient(ctx, client.id, { organization: 'required' })
    expect((await oidc.refresh(tokens.refresh_token, {}, client)).body).toEqual({
      error: 'invalid_grant',
      error_description: 'The client requires an organization, and the grant has none.',
    })
    // The rejected request has not used the token.
    const { body } = await oidc.refresh(tokens.refresh_token, { organization: first.id }, client)
    expect(readOrganization(body.access_token)).toEqual([first.id, first.slug])
  })

  test('fails for a removed member, whose tokens are inactive at once', async ({
    member,
    first,
    oidc,
    app,
    tenant,
    client,
    leave,
  }) => {
    const tokens = await member.newTokens({ ...SCOPE, organization: first.id })
    const plain = await member.newTokens(SCOPE)
    const code = await member.newCode({ ...SCOPE, organization: first.id })
    const introspect = async (token: string) => {
      const response = await fetch(`${app.origin}/${tenant}/oidc/introspect`, {
        method: 'POST',
        headers: { authorization: `Basic ${btoa(`${client.id}:${client.secret}`)}` },
        body: new URLSearchParams({ token }),
      })
      return response.json()
    }
    expect(await introspect(tokens.access_token)).toMatchObject({
      active: true,
      org_id: first.id,
      org_slug: first.slug,
    })
    await leave(first)
    expect(await introspect(tokens.access_token)).toEqual({ active: false })
    expect(await introspect(tokens.refresh_token)).toEqual({ active: false })
    expect((await oidc.userinfo(tokens.access_token)).status).toBe(401)
    expect((await oidc.refresh(tokens.refresh_token)).body).toMatchObject({ error: 'invalid_grant' })
    expect((await oidc.exchange(code)).body).toMatchObject({ error: 'invalid_grant' })
    expect(await introspect(plain.access_token)).toMatchObject({ active: true })
  })
})
