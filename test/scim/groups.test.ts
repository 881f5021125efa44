import { describe, expect } from 'vitest'
import { logOf } from '../support/events.ts'
import { GROUP, PATCH, test } from '../support/scim.ts'

const patch = (...operations: object[]) => ({ schemas: [PATCH], Operations: operations })

describe('a group of SCIM', () => {
  test('is created, matched, changed and deleted as Entra ID and Okta document it', async ({
    ctx,
    scim,
    newPerson,
  }) => {
    const { call } = await scim()
    const people = [await newPerson(), await newPerson(), await newPerson()]
    const [ada, bob, eve] = people.map(({ id }) => id)
    const created = await call('POST', '/Groups', {
      schemas: [GROUP, 'http://schemas.microsoft.com/2006/11/ResourceManagement/ADSCIM/2.0/Group'],
      externalId: '8aa1a0c0-c4c3-4bc0-b4a5-2ef676900159',
      displayName: 'Order desk',
      meta: { resourceType: 'Group' },
    })
    expect(created).toMatchObject({ status: 201, body: { displayName: 'Order desk', members: [] } })
    const path = `/Groups/${created.body.id}`
    const members = async () =>
      (await call('GET', path)).body.members.map(({ value }: { value: string }) => value)
    const found = await call('GET', '/Groups?excludedAttributes=members&filter=displayName eq "ORDER desk"')
    expect(found.body.Resources).toMatchObject([{ id: created.body.id, externalId: created.body.externalId }])
    expect(found.body.Resources[0]).not.toHaveProperty('members')

    const add = patch({ op: 'Add', path: 'members', value: [{ $ref: null, value: ada }, { value: bob }] })
    expect(await call('PATCH', path, add)).toMatchObject({ status: 204, body: null })
    expect(await members()).toEqual([ada, bob])
    const log = () => logOf(ctx.tenant)
    const known = await log()
    await call('PATCH', path, add)
    expect(await log()).toHaveLength(known.length)
    await call('PATCH', path, patch({ op: 'Remove', path: 'members', value: [{ $ref: null, value: ada }] }))
    await call('PATCH', path, patch({ op: 'remove', path: `members[value eq "${bob}"]` }))
    expect(await members()).toEqual([])
    await call(
      'PATCH',
      path,
      patch({ op: 'Replace', path: 'displayName', value: '1879db59-3bdf-4490-ad68-ab880a269474' }),
    )
    // Okta
    const replace = patch({
      op: 'replace',
      value: {
        id: created.body.id,
        displayName: 'Test SCIMv2',
        members: [{ value: bob, display: 'Bob' }, { value: eve }],
      },
    })
    expect(await call('PATCH', `${path}?attributes=displayName`, replace)).toMatchObject({
      status: 200,
      body: { displayName: 'Test SCIMv2' },
    })
    const tag = (await call('GET', path)).headers.get('etag') ?? ''
    const put = {
      schemas: [GROUP],
      displayName: 'Test SCIMv2',
      externalId: created.body.externalId,
      members: [{ value: eve }, { value: bob }],
    }
    expect((await call('PUT', path, put, { 'if-match': tag })).headers.get('etag')).toBe(tag)
    await call('PUT', path, { ...put, members: [{ value: ada }, { value: eve }] })
    expect(await members()).toEqual([ada, eve])
    expect((await call('PUT', path, put, { 'if-match': tag })).status).toBe(412)
    expect((await call('GET', `/Groups?filter=members eq "${ada}"`)).body).toMatchObject({ totalResults: 1 })
    expect((await call('GET', `/Users/${ada}`)).body.groups).toMatchObject([
      { value: created.body.id, display: 'Test SCIMv2' },
    ])

    expect((await call('POST', '/Groups', { displayName: 'Test SCIMv2' })).body).toMatchObject({
      scimType: 'uniqueness',
    })
    for (const operation of [
      { op: 'add', path: 'members', value: [{ value: bob }, { value: 'user_unknown' }] },
      { op: 'add', path: 'members', value: [{ value: created.body.id, type: 'Group' }] },
      { op: 'remove', path: 'members[display sw "a"]' },
      { op: 'replace', path: 'appRoles', value: ['role'] },
      { op: 'move', path: 'members' },
    ])
      expect((await call('PATCH', path, patch(operation))).status, JSON.stringify(operation)).toBe(400)
    expect(await members()).toEqual([ada, eve])
    expect((await call('DELETE', path)).status).toBe(204)
    expect((await call('GET', path)).status).toBe(404)
  })
})
