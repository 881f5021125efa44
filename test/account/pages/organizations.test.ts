import { describe, expect } from 'vitest'
import { createInvitation } from '../../../src/invitations/invitations.ts'
import { getInvitation } from '../../../src/invitations/read-invitations.ts'
import {
  createMembership,
  leaveOrganization,
  listMembers,
  updateMembership,
} from '../../../src/organizations/memberships.ts'
import { createOrganization } from '../../../src/organizations/organizations.ts'
import { createAppRole } from '../../../src/permissions/app-roles.ts'
import { setMembershipAppRoles } from '../../../src/permissions/role-assignments.ts'
import { test as base } from '../../support/account-pages.ts'
import { ownTokenFor } from '../../support/actors.ts'
import { dbFor } from '../../support/database.ts'
import { newAdministrator } from '../../support/organization-administrators.ts'

/** With organizations of the tenant, whose members are these users, and the members of one. */
const test = base
  .extend('newOrganization', ({ ctx, task }) => {
    let count = 0
    return async (name: string, members: Record<string, boolean> = {}) => {
      const slug = `${task.id.replace(/[^a-z0-9]/g, '')}-${++count}`
      const { id } = await createOrganization(ctx, { slug, name })
      for (const [userId, isAdministrator] of Object.entries(members))
        await createMembership(ctx, id, { userId, isAdministrator })
      return id
    }
  })
  .extend(
    'readMembers',
    ({ ctx }) =>
      async (id: string) =>
        (await listMembers(ctx, id, { first: 100 })).rows,
  )

describe('the page of organizations', () => {
  test('is shown to members and invited people; an invitation is accepted or declined there, once', async ({
    ctx,
    person,
    newOrganization,
    readMembers,
    events,
    visit,
    submit,
    here,
  }) => {
    expect((await visit('/organizations')).response.status).toBe(404)
    expect((await visit()).html).not.toContain('/account/organizations')
    const [acme, globex] = [await newOrganization('Acme'), await newOrganization('Globex')]
    const invitation = await createInvitation(ctx, {
      email: person.email.toUpperCase(),
      organizationId: acme,
    })
    const other = await createInvitation(ctx, { email: person.email, organizationId: globex })
    expect((await visit()).html).toContain('/account/organizations')
    const page = await visit('/organizations')
    expect(page.html).toContain('Acme')
    const accepted = await submit('/organizations', { step: 'accept', invitation: invitation.id })
    expect(accepted.html).toContain('You are a member of the organization now.')
    const [membership] = await readMembers(acme)
    expect(membership).toMatchObject({ userId: person.id, joinedVia: 'invitation', isAdministrator: false })
    const role = await createAppRole(ctx, { name: `buyer-${acme.slice(-8)}`, assignableTo: ['member'] })
    await setMembershipAppRoles(ctx, membership?.id ?? '', { appRoleIds: [role.id] })
    await updateMembership(ctx, membership?.id ?? '', { isAdministrator: true })
    const { html } = await visit('/organizations')
    for (const part of [role.name, 'Administrator', `/console/organizations/${acme}`])
      expect(html).toContain(part)
    const about = { actorUserId: person.id, actorClientId: null }
    expect((await events({ type: 'invitation.accepted', userId: person.id })).at(-1)).toMatchObject(about)
    // The form of a page that was left open, sent by Back and Enter.
    const again = await here.submit(page, { step: 'accept', invitation: invitation.id })
    expect(await again.response.text()).toContain('That is no longer there.')
    expect((await events({ type: 'membership.created', userId: person.id })).length).toBe(1)
    const declined = await submit('/organizations', { step: 'decline', invitation: other.id })
    expect(declined.html).toContain('You have declined the invitation.')
    expect(declined.html).not.toContain('Globex')
    expect((await getInvitation(ctx, other.id)).status).toBe('revoked')
    expect(await readMembers(globex)).toEqual([])
  })

  test('ends the membership of a person who leaves, but not of the last administrator of others', async ({
    tenant,
    ctx,
    person,
    newPerson,
    newOrganization,
    readMembers,
    ageSignIn,
    app,
    visit,
    submit,
    events,
  }) => {
    const { id: other } = await newPerson()
    const acme = await newOrganization('Acme', { [other]: false })
    const administrator = await newAdministrator(tenant, acme)
    await createMembership(ctx, acme, { userId: person.id, isAdministrator: true })
    const { html } = await visit('/organizations')
    expect(html).toMatch(/<details.*<form.*value="leave".*<\/details>/s)
    await ageSignIn(20)
    const old = await submit('/organizations', { step: 'leave', organization: acme })
    expect([old.path, (await readMembers(acme)).length]).toEqual([expect.stringContaining('/signin/'), 3])
    await ageSignIn(0)
    const left = await submit('/organizations', { step: 'leave', organization: acme })
    expect(left.html).toContain('You have left the organization.')
    expect((await readMembers(acme)).map(({ userId }) => userId)).toEqual([other, administrator.userId])
    expect((await events({ type: 'membership.deleted', userId: person.id })).at(-1)).toMatchObject({
      actorUserId: person.id,
      organizationId: acme,
    })
    const own = await newOrganization('Globex', { [person.id]: true, [other]: false })
    const last = await submit('/organizations', { step: 'leave', organization: own })
    expect([last.response.status, last.html]).toEqual([
      409,
      expect.stringContaining('You are the last administrator of this organization'),
    ])
    // What the membership gave ends with it: the token for the organization permits nothing more.
    const read = () => app.rest(tenant, administrator.token, 'GET', `/organizations/${acme}/members`)
    expect((await read()).status).toBe(200)
    await createMembership(ctx, acme, { userId: person.id, isAdministrator: true })
    await leaveOrganization(ctx, acme, administrator.userId)
    expect((await read()).status).toBe(401)
  })

  test('lets one of two administrators who leave at once go', async ({
    ctx,
    newPerson,
    newOrganization,
    readMembers,
  }) => {
    const [one, two, member] = await Promise.all([newPerson(), newPerson(), newPerson()])
    const id = await newOrganization('Race', { [one.id]: true, [two.id]: true, [member.id]: false })
    const results = await Promise.allSettled([one, two].map((user) => leaveOrganization(ctx, id, user.id)))
    expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    expect((await readMembers(id)).filter(({ isAdministrator }) => isAdministrator)).toHaveLength(1)
  })
})

describe('an invitation of an address', () => {
  const test = base
    .extend('account', ({ newClient }) => newClient({ scopes: ['account'] }))
    .extend('run', ({ tenant, account, gql, person }) => async (query: string) => {
      const token = await ownTokenFor(tenant, person.id, account.id)
      return (await gql(query, {}, { token })).body
    })

  test('is accepted by the API for the user of the verified address alone, once', async ({
    tenant,
    ctx,
    person,
    newPerson,
    run,
  }) => {
    const organization = await createOrganization(ctx, { slug: 'api', name: 'Api' })
    const organizationId = organization.id
    const administrator = await newAdministrator(tenant, organizationId)
    const invite = async (given: object) =>
      (await createInvitation(ctx, { email: person.email, organizationId, ...given })).id
    const stranger = await newPerson()
    const role = await createAppRole(ctx, { name: 'buyer', assignableTo: ['member'] })
    const hidden = [
      await invite({ email: stranger.email }),
      await invite({ roles: ['support'] }),
      await invite({ isAdministrator: true }),
      await invite({ appRoleIds: [role.id] }),
      (await createInvitation(ctx, { email: person.email })).id,
    ]
    const LIST = '{ viewer { invitations { id organizationName } } }'
    const accept = (id: string) =>
      run(
        `mutation { result: acceptViewerInvitation(input: { invitationId: "${id}" }) {
          __typename ... on AcceptViewerInvitationPayload { membership { organization { slug } joinedVia } } } }`,
      )
    expect((await run(LIST)).data.viewer.invitations).toEqual([])
    const open = await invite({})
    await dbFor(tenant).invitation.updateMany({
      where: { tenantId: tenant, id: open },
      data: { byAdministrator: true, invitedBy: administrator.userId },
    })
    expect((await run(LIST)).data.viewer.invitations).toEqual([{ id: open, organizationName: 'Api' }])
    for (const id of hidden) expect((await accept(id)).data.result.__typename).toBe('NotFoundError')
    // The invitation of an administrator ends with the right of the sender, and with the verification of the address.
    const setVerified = (emailVerified: boolean) =>
      dbFor(tenant).user.updateMany({ where: { tenantId: tenant, id: person.id }, data: { emailVerified } })
    await setVerified(false)
    expect((await accept(open)).data.result.__typename).toBe('NotFoundError')
    await setVerified(true)
    await createMembership(ctx, organizationId, { userId: stranger.id, isAdministrator: true })
    const [first, second] = await Promise.all([accept(open), accept(open)])
    expect([first, second].map(({ data }) => data.result.__typename).sort()).toEqual([
      'AcceptViewerInvitationPayload',
      'NotFoundError',
    ])
    const late = await invite({})
    await dbFor(tenant).invitation.updateMany({
      where: { tenantId: tenant, id: late },
      data: { byAdministrator: true, invitedBy: administrator.userId },
    })
    await leaveOrganization(ctx, organizationId, administrator.userId)
    expect((await accept(late)).data.result.__typename).toBe('NotFoundError')
  })
})
