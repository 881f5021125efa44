import { describe, expect } from 'vitest'
import { createManagementRole } from '../../src/users/management-roles.ts'
import { setUserRoles } from '../../src/users/roles.ts'
import { logOf } from '../support/events.ts'
import type { Json } from '../support/json.ts'
import { ENTERPRISE, PATCH, test, USER } from '../support/scim.ts'

describe('Entra ID', () => {
  test('creates, matches, changes, disables and deletes a user by its documented requests', async ({
    ctx,
    scim,
    email,
  }) => {
    const { call } = await scim()
    const userName = email('Test_User_ab6490ee')
    const missing = await call('GET', `/Users?filter=userName eq "${userName}"`)
    expect(missing).toMatchObject({ status: 200, body: { totalResults: 0, Resources: [] } })
    const created = await call('POST', '/Users', {
      schemas: [USER, ENTERPRISE],
      externalId: '0a21f0f2-8d2a-4f8e-bf98-7363c4aed4ef',
      userName,
      active: true,
      emails: [{ primary: true, type: 'work', value: email('Test_User_fd0ea19b') }],
      meta: { resourceType: 'User' },
      name: { formatted: 'givenName familyName', familyName: 'familyName', givenName: 'givenName' },
      roles: [{ value: 'admin' }],
      password: 'secret',
      [ENTERPRISE]: { department: 'Sales', manager: { value: '26118915' } },
    })
    expect(created.status).toBe(201)
    const { id } = created.body
    expect(created.headers.get('content-type')).toBe('application/scim+json')
    expect(created.headers.get('location')).toBe(created.body.meta.location)
    expect(created.body).toMatchObject({
      userName,
      active: true,
      displayName: 'givenName familyName',
      emails: [{ value: email('Test_User_fd0ea19b'), type: 'work', primary: true }],
      [ENTERPRISE]: { department: 'Sales', manager: { value: '26118915' } },
    })
    expect(JSON.stringify(created.body)).not.toMatch(/admin|secret/)
    expect((await call('POST', '/Users', { userName: userName.toUpperCase() })).body).toMatchObject({
      status: '409',
      scimType: 'uniqueness',
    })
    for (const filter of [
      `userName eq "${userName.toLowerCase()}"`,
      'externalId eq "0a21f0f2-8d2a-4f8e-bf98-7363c4aed4ef"',
      `emails[type eq "work"].value eq "${email('test_user_fd0ea19b')}"`,
      `emails.value eq "${email('test_user_fd0ea19b')}" and active eq true`,
    ])
      expect((await call('GET', `/Users?filter=${encodeURIComponent(filter)}`)).body, filter).toMatchObject({
        totalResults: 1,
        Resources: [{ id }],
      })
    const patched = await call('PATCH', `/Users/${id}`, {
      schemas: [PATCH],
      Operations: [
        { op: 'Replace', path: 'emails[type eq "work"].value', value: email('updatedEmail') },
        { op: 'Replace', path: 'name.familyName', value: 'updatedFamilyName' },
        { op: 'Add', path: 'phoneNumbers[type eq "mobile"].value', value: '+1 555 0100' },
        { op: 'Add', path: `${ENTERPRISE}:employeeNumber`, value: '701984' },
        { op: 'Replace', value: { displayName: 'Bob', 'name.givenName': 'Bobby', unknown: 1 } },
      ],
    })
    expect(patched).toMatchObject({
      status: 200,
      body: {
        emails: [{ value: email('updatedEmail') }],
        name: { familyName: 'updatedFamilyName', givenName: 'Bobby', formatted: 'Bob' },
        phoneNumbers: [{ type: 'mobile', value: '+1 555 0100' }],
        [ENTERPRISE]: { department: 'Sales', employeeNumber: '701984' },
      },
    })
    const disabled = await call('PATCH', `/Users/${id}`, {
      schemas: [PATCH],
      Operations: [{ op: 'Replace', path: 'active', value: 'False' }],
    })
    expect(disabled.body.active).toBe(false)
    expect(await ctx.db.prisma.user.findFirst({ where: { tenantId: ctx.tenant, id } })).toMatchObject({
      locked: true,
      roles: [],
    })
    const events = (await logOf(ctx.tenant)).filter(({ userId }) => userId === id)
    const again = await call('PATCH', `/Users/${id}`, {
      schemas: [PATCH],
      Operations: [{ op: 'Replace', value: { active: 'False', displayName: 'Bob' } }],
    })
    expect(again.headers.get('etag')).toBe(disabled.headers.get('etag'))
    expect((await logOf(ctx.tenant)).filter(({ userId }) => userId === id)).toHaveLength(events.length)
    expect((await call('DELETE', `/Users/${id}`)).status).toBe(204)
    expect((await call('GET', `/Users/${id}`)).body).toMatchObject({ status: '404' })
  })
})

describe('Okta', () => {
  test('tests the connection, imports, creates, replaces, deactivates and reactivates by its documented requests', async ({
    ctx,
    scim,
    email,
  }) => {
    const { call } = await scim()
    const userName = email('test.user')
    expect((await call('GET', '/Users?startIndex=1&count=2')).body).toMatchObject({ startIndex: 1 })
    expect((await call('GET', '/ServiceProviderConfig')).body).toMatchObject({ patch: { supported: true } })
    const user = {
      schemas: [USER],
      userName,
      name: { givenName: 'Test', familyName: 'User' },
      emails: [{ primary: true, value: userName, type: 'work' }],
      displayName: 'Test User',
      locale: 'en-US',
      externalId: '00ujl29u0le5T6Aj10h7',
      groups: [],
      password: '1mz050nq',
      active: true,
    }
    const { status, body: created } = await call('POST', '/Users', user)
    expect(status).toBe(201)
    const path = `/Users/${created.id}`
    const tag = (await call('PUT', path, user)).headers.get('etag') ?? ''
    expect(tag).toBe(created.meta.version)
    expect(await call('GET', path, undefined, { 'if-none-match': tag })).toMatchObject({
      status: 304,
      body: null,
    })
    const renamed = await call(
      'PUT',
      path,
      { ...user, nickName: 'Tester', locale: undefined },
      { 'if-match': tag },
    )
    expect(renamed.body).toMatchObject({ nickName: 'Tester', active: true })
    expect(renamed.body).not.toHaveProperty('locale')
    expect((await call('PUT', path, user, { 'if-match': tag })).body).toMatchObject({ status: '412' })
    const deactivated = await call('PUT', path, { ...user, active: false })
    expect(deactivated.body.active).toBe(false)
    expect(
      await ctx.db.prisma.user.findFirst({ where: { tenantId: ctx.tenant, id: created.id } }),
    ).toMatchObject({
      locked: true,
    })
    const active = { schemas: [PATCH], Operations: [{ op: 'replace', value: { active: true } }] }
    expect((await call('PATCH', path, active)).body.active).toBe(true)
  })
})

describe('a SCIM client', () => {
  test('creates one user by two requests with one userName at the same time', async ({ scim }) => {
    const { call } = await scim()
    const answers = await Promise.all([1, 2, 3].map(() => call('POST', '/Users', { userName: 'Racer' })))
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409])
    const found = await call('GET', '/Users?filter=userName eq "RACER"')
    expect(found.body).toMatchObject({ totalResults: 1, Resources: [{ userName: 'Racer' }] })
  })

  test('neither locks, renames nor deletes an administrator, and gives no role', async ({
    ctx,
    scim,
    newPerson,
    rest,
  }) => {
    const { call, key } = await scim()
    const admin = await newPerson()
    await setUserRoles(ctx, admin.id, { roles: ['admin'] })
    const path = `/Users/${admin.id}`
    const patch = (path: string, value: unknown) => ({
      schemas: [PATCH],
      Operations: [{ op: 'replace', path, value }],
    })
    expect((await call('PATCH', path, patch('active', false))).status).toBe(403)
    expect((await call('PATCH', path, patch('emails.value', 'eve@elsewhere.test'))).status).toBe(403)
    expect((await call('DELETE', path)).status).toBe(403)
    // Its scopes are those that SCIM gives, for provisioning alone.
    await createManagementRole(ctx, { name: 'desk', scopes: ['roles:write', 'users:write'] })
    const desk = await newPerson()
    await setUserRoles(ctx, desk.id, { roles: ['desk'] })
    const rename = patch('emails.value', 'eve@elsewhere.test')
    expect((await call('PATCH', `/Users/${desk.id}`, rename)).status).toBe(403)
    expect((await call('DELETE', `/Users/${desk.id}`)).status).toBe(403)
    const eve = await newPerson()
    const mixed = {
      roles: ['admin'],
      scopes: ['users:write'],
      emailVerified: true,
      appMetadata: { plan: 'pro' },
      id: admin.id,
      displayName: 'Eve',
    }
    expect((await call('PATCH', `/Users/${eve.id}`, patch('roles', ['admin']))).status).toBe(200)
    expect((await call('PATCH', `/Users/${eve.id}`, patch('appMetadata', {}))).body.scimType).toBe(
      'invalidPath',
    )
    expect((await call('PATCH', `/Users/${eve.id}`, patch('id', admin.id))).body.scimType).toBe('mutability')
    expect((await call('PUT', `/Users/${eve.id}`, { ...mixed, userName: eve.email })).body).toMatchObject({
      displayName: 'Eve',
    })
    expect(await ctx.db.prisma.user.findFirst({ where: { tenantId: ctx.tenant, id: eve.id } })).toMatchObject(
      { roles: [], appMetadata: {} },
    )
    // The key works at SCIM alone, and another key or token does not work there.
    expect((await rest('GET', '/users', undefined, { token: key })).status).toBe(403)
    const { call: other } = await scim({ scopes: ['users:write'] })
    expect((await other('GET', '/Users')).body).toMatchObject({ status: '403' })
    expect((await call('GET', '/Users', undefined, { authorization: 'Bearer x' })).body).toMatchObject({
      status: '401',
    })
    expect((await call('GET', '/Me')).status).toBe(501)
  })

  test('filters by values that are data, within bounds, and by known attributes', async ({
    scim,
    newPerson,
    email,
  }) => {
    const { call } = await scim()
    const ada = await newPerson({ email: email("o'hara"), name: 'Ada "the" O\'Hara', familyName: "O'Hara" })
    const find = async (filter: string, more = '') =>
      (await call('GET', `/Users?filter=${encodeURIComponent(filter)}${more}`)).body
    const hits = [
      `displayName eq "ADA \\"the\\" O'Hara"`,
      `name.familyName co "'har" and active eq true`,
      `userName sw "o'" and not (name.familyName ne "o'hara")`,
      `emails[type eq "work"].value ew "hara@${email('x').split('@')[1]}"`,
      `(externalId eq "none" or urn:ietf:params:scim:schemas:core:2.0:User:displayName sw "ada \\"") and meta.lastModified gt "2020-01-01T00:00:00Z"`,
    ]
    for (const filter of hits)
      expect(await find(filter), filter).toMatchObject({ totalResults: 1, Resources: [{ id: ada.id }] })
    const misses = [
      `userName eq "' OR '1'='1"`,
      `externalId eq "x\\") UNION SELECT 1 --"`,
      'displayName co "%"',
      'userName eq "a" and active eq false',
    ]
    for (const filter of misses) expect(await find(filter), filter).toMatchObject({ totalResults: 0 })
    const invalid = [
      'password pr',
      'userName',
      'userName eq',
      'userName eq ada',
      'userName like "a"',
      '(userName pr',
      'userName pr)',
      'active gt true',
      'meta.created eq "yesterday"',
      'userName eq "\\u0000"',
      '__proto__ pr',
      'userName eq "a',
      `${'('.repeat(20)}userName pr${')'.repeat(20)}`,
      Array.from({ length: 21 }, () => 'userName pr').join(' or '),
      `userName eq "${'a'.repeat(2000)}"`,
    ]
    for (const filter of invalid)
      expect(await find(filter), filter).toMatchObject({ scimType: 'invalidFilter' })
    const path = `/Users/${ada.id}`
    const patchWith = (...Operations: object[]) =>
      call('PATCH', path, { schemas: [PATCH], Operations }).then(({ body }: { body: Json }) => body)
    const phones = (from: number) => ({
      op: 'add',
      path: 'phoneNumbers',
      value: Array.from({ length: 40 }, (_, index) => ({ value: String(from + index) })),
    })
    const many = Array.from({ length: 101 }, (_, index) => [`phoneNumbers[type eq "${index}"].value`, '1'])
    expect(await patchWith({ op: 'add', value: Object.fromEntries(many) })).toMatchObject({
      scimType: 'tooMany',
    })
    expect(await patchWith(phones(1), phones(41))).toMatchObject({ scimType: 'invalidValue' })
    const names = Array.from({ length: 101 }, () => 'a').join(',')
    expect(await find('userName pr', `&attributes=${names}`)).toMatchObject({ scimType: 'invalidValue' })
    expect((await call('PUT', path, { userName: ada.email, title: 'x'.repeat(200_000) })).status).toBe(413)
    const sorted = await find(
      'userName pr',
      '&sortBy=meta.created&sortOrder=descending&count=1&attributes=userName,meta.created',
    )
    expect(sorted.Resources[0]).toEqual({
      schemas: [USER],
      id: ada.id,
      userName: ada.email,
      meta: { created: expect.any(String) },
    })
    const walked: string[] = []
    for (let cursor: string | undefined = ''; cursor !== undefined; ) {
      const { body }: { body: Json } = await call('GET', `/Users?count=2&cursor=${cursor}`)
      walked.push(...body.Resources.map(({ id }: { id: string }) => id))
      cursor = body.nextCursor
    }
    const everybody = (await call('GET', '/Users')).body
    expect(walked).toEqual(everybody.Resources.map(({ id }: { id: string }) => id))
    expect(walked).toHaveLength(everybody.totalResults)
    expect((await call('GET', '/Users?cursor=x')).body.scimType).toBe('invalidCursor')
    const page = (await call('GET', '/Users?startIndex=2&count=1&excludedAttributes=groups,emails')).body
    expect(page).toMatchObject({ startIndex: 2, itemsPerPage: 1 })
    expect(page.Resources[0]).not.toHaveProperty('groups')
    expect((await call('GET', '/Users?count=0')).body).toMatchObject({
      itemsPerPage: 0,
      totalResults: page.totalResults,
    })
  })
})
