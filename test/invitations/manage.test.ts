import { describe, expect } from 'vitest'
import { takeInvitation } from '../../src/coordination/person-budgets.ts'
import { createInvitation, resendInvitation, revokeInvitation } from '../../src/invitations/invitations.ts'
import { getInvitation, listInvitations } from '../../src/invitations/read-invitations.ts'
import { updateSettings } from '../../src/tenants/settings.ts'
import { ctxFor, newTenant } from '../support/actors.ts'
import { test } from '../support/invitations.ts'

describe('createInvitation', () => {
  test('sends a mail that names the tenant, the expiry and the link, which no API returns', async ({
    tenant,
    guest,
    inbox,
    invite,
    rest,
    gql,
  }) => {
    const { id } = await invite({ note: 'New in support', roles: ['support', 'support'] })
    const [mail] = await inbox.list(guest)
    expect(mail?.subject).toBe(`You are invited to ${tenant}`)
    expect(mail?.body).toMatch(/It can be used once and expires on \w+ \d+, \d{4} at .* UTC\./)
    const token = /token=(\S+)/.exec(mail?.body ?? '')?.[1] ?? 'none'
    const shown = await rest('GET', `/invitations/${id}`)
    expect(shown.body).toMatchObject({
      id,
      email: guest,
      status: 'pending',
      roles: ['support'],
      note: 'New in support',
    })
    const list = await rest('GET', '/invitations')
    const nodes = await gql('{ invitations(first: 5) { nodes { id email status roles } } }')
    expect(nodes.body.data.invitations.nodes).toContainEqual({
      id,
      email: guest,
      status: 'PENDING',
      roles: ['support'],
    })
    for (const answer of [shown, list, nodes]) expect(JSON.stringify(answer.body)).not.toContain(token)
  })

  test('gives the link the lifetime of the tenant where it has none of its own', async ({
    ctx,
    invite,
    onTestFinished,
  }) => {
    const lifetimeOf = ({ sentAt, expiresAt }: Awaited<ReturnType<typeof invite>>) =>
      (expiresAt.getTime() - sentAt.getTime()) / 1000
    expect(lifetimeOf(await invite())).toBe(259_200)
    await updateSettings(ctx, { invitationLifetimeSeconds: 3600 })
    onTestFinished(async () => {
      await updateSettings(ctx, { invitationLifetimeSeconds: null })
    })
    expect(lifetimeOf(await invite())).toBe(3600)
    expect(lifetimeOf(await invite({ expiresInSeconds: 600 }))).toBe(600)
    await expect(updateSettings(ctx, { invitationLifetimeSeconds: 2_592_001 })).rejects.toMatchObject({
      fields: [{ field: 'invitationLifetimeSeconds' }],
    })
  })

  test('rejects roles that the caller could not give', async ({ ctx, guest, invite }) => {
    const caller = { ...ctx, scopes: new Set(['users:read', 'users:write'] as const) }
    const rejected = { status: 403, message: expect.stringContaining('scopes that the caller lacks') }
    await expect(createInvitation(caller, { email: guest, roles: ['admin'] })).rejects.toMatchObject(rejected)
    await expect(createInvitation(caller, { email: guest })).resolves.toMatchObject({ status: 'pending' })
    const { id } = await invite({ roles: ['admin'] })
    await expect(resendInvitation(caller, id, {})).rejects.toMatchObject(rejected)
    await expect(revokeInvitation(caller, id)).rejects.toMatchObject(rejected)
  })

  test('names every invalid field', async ({ ctx }) => {
    const input = { email: 'x', roles: ['Root'], locale: '!', expiresInSeconds: 1, more: 1 }
    await expect(createInvitation(ctx, input)).rejects.toMatchObject({
      fields: ['email', 'roles.0', 'locale', 'expiresInSeconds', 'more'].map((field) =>
        expect.objectContaining({ field }),
      ),
    })
    await expect(createInvitation(ctx, { email: 'a@b.example', clientId: 'x' })).rejects.toMatchObject({
      status: 404,
    })
  })

  test('sends ten mails to an address in an hour, of all that are asked for at once', async ({
    ctx,
    guest,
    inbox,
    invite,
  }) => {
    const { id } = await invite()
    const outcomes = await Promise.allSettled(Array.from({ length: 80 }, () => invite()))
    const rejected = outcomes.filter(({ status }) => status === 'rejected')
    expect(rejected.map((outcome) => 'reason' in outcome && outcome.reason.status)).toEqual(
      Array(71).fill(429),
    )
    const later = new Date(Date.now() + 31_000)
    await expect(resendInvitation(ctx, id, {}, later)).rejects.toMatchObject({ status: 429 })
    expect(await inbox.list(guest)).toHaveLength(10)
  })

  test('is rejected for a user who has invited a thousand in an hour, and not for others', async ({
    tenant,
    ctx,
  }) => {
    const by = (userId: string) => ({
      ...ctx,
      actor: { kind: 'user' as const, tenant, userId, clientId: null, sessionId: null, grantId: null },
    })
    for (let n = 0; n < 1000; n++) takeInvitation(by('eve'), `address ${n}`)
    await expect(createInvitation(by('eve'), { email: 'a@many.example' })).rejects.toMatchObject({
      status: 429,
    })
    await expect(createInvitation(by('ada'), { email: 'b@many.example' })).resolves.toMatchObject({
      status: 'pending',
    })
  })
})

describe('resendInvitation', () => {
  test('sends another link with the same lifetime, once in 30 seconds', async ({
    ctx,
    guest,
    inbox,
    invite,
  }) => {
    const { id } = await invite({ expiresInSeconds: 600 })
    await expect(resendInvitation(ctx, id, {})).rejects.toMatchObject({ status: 429 })
    const later = new Date(Date.now() + 31_000)
    const { expiresAt, status } = await resendInvitation(ctx, id, {}, later)
    expect([expiresAt.getTime() - later.getTime(), status]).toEqual([600_000, 'pending'])
    const links = (await inbox.list(guest)).map(({ body }) => /token=(\S+)/.exec(body)?.[1])
    expect(new Set(links).size).toBe(2)
  })

  test('sends an expired invitation again, and no revoked one', async ({ ctx, invite }) => {
    const { id } = await invite({ expiresInSeconds: 300 })
    const later = new Date(Date.now() + 400_000)
    expect(await resendInvitation(ctx, id, {}, later)).toMatchObject({ status: 'pending' })
    for (let round = 0; round < 2; round++)
      expect(await revokeInvitation(ctx, id)).toEqual({ revokedInvitationId: id })
    expect(await getInvitation(ctx, id)).toMatchObject({ status: 'revoked' })
    await expect(resendInvitation(ctx, id, {}, later)).rejects.toMatchObject({ status: 409 })
  })
})

describe('listInvitations', () => {
  test('pages through the invitations of the tenant only', async () => {
    const [ctx, other] = [await ctxFor(await newTenant()), await ctxFor(await newTenant())]
    for (const name of ['a', 'b', 'c']) await createInvitation(ctx, { email: `${name}@list.example` })
    await createInvitation(other, { email: 'd@list.example' })
    const page = await listInvitations(ctx, { first: 2 })
    expect([page.rows.map(({ email }) => email), page.hasNextPage]).toEqual([
      ['a@list.example', 'b@list.example'],
      true,
    ])
  })
})
