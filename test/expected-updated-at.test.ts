import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { newTenant, tokenFor } from './support/actors.ts'
import { logOf } from './support/events.ts'
import { openSurfaces, type Surfaces } from './support/surfaces.ts'

let surfaces: Surfaces
let tenant: string
let token: string
beforeAll(async () => {
  surfaces = await openSurfaces()
  tenant = await newTenant()
  token = await tokenFor(tenant)
})
afterAll(() => surfaces.close())

type Answer = Awaited<ReturnType<Surfaces['rest']>>
/** One kind of thing that can be changed, on both surfaces. */
type Subject = {
  /** A new one: the path that changes it, and its id for GraphQL. */
  make: () => Promise<{ path: string; id: string }>
  updatedAt: (path: string) => Promise<string>
  /** A change of one field, in REST's body. */
  change: (value: string) => object
  mutation: (id: string, value: string, expected: string) => string
}

const rest = (method: string, path: string, body?: object): Promise<Answer> =>
  surfaces.rest(tenant, token, method, path, body)
const ofBody = async (path: string) => (await rest('GET', path)).body.updatedAt as string
const ERRORS = '... on ConflictError { fields { field } } ... on ValidationError { fields { field } }'

const SUBJECTS: Record<string, Subject> = {
  user: {
    make: async () => {
      const { body } = await rest('POST', '/users', { name: 'Ada' })
      return { path: `/users/${body.id}`, id: body.id }
    },
    updatedAt: ofBody,
    change: (name) => ({ name }),
    mutation: (id, name, expected) => `updateUser(input: { userId: "${id}", expectedUpdatedAt: "${expected}",
      fields: { name: "${name}" } }) { __typename ${ERRORS} }`,
  },
  client: {
    make: async () => {
      const { body } = await rest('POST', '/clients', { name: 'App', appType: 'web', type: 'login' })
      return { path: `/clients/${body.id}`, id: body.id }
    },
    updatedAt: ofBody,
    change: (name) => ({ name }),
    mutation: (
      id,
      name,
      expected,
    ) => `updateClient(input: { clientId: "${id}", expectedUpdatedAt: "${expected}",
      fields: { name: "${name}" } }) { __typename ${ERRORS} }`,
  },
  'identity provider': {
    make: async () => {
      const id = `idp-${randomUUID()}`
      await rest('POST', '/idps', { id, type: 'google', name: 'Google', clientId: 'c', clientSecret: 's' })
      return { path: `/idps/${id}`, id }
    },
    updatedAt: ofBody,
    change: (name) => ({ name }),
    mutation: (
      id,
      name,
      expected,
    ) => `updateIdentityProvider(input: { idpId: "${id}", expectedUpdatedAt: "${expected}",
      name: "${name}" }) { __typename ${ERRORS} }`,
  },
  settings: {
    make: async () => ({ path: '/settings', id: tenant }),
    updatedAt: async (path) => (await rest('GET', path)).headers.get('updated-at') as string,
    change: (friendlyName) => ({ friendlyName }),
    mutation: (_id, name, expected) => `updateTenantSettings(input: { expectedUpdatedAt: "${expected}",
      friendlyName: "${name}" }) { __typename ${ERRORS} }`,
  },
}

describe.each(Object.entries(SUBJECTS))('expectedUpdatedAt of a %s', (_name, subject) => {
  it('lets a change through that is based on what is stored, and refuses one that is not', async () => {
    const { path, id } = await subject.make()
    const read = await subject.updatedAt(path)
    const first = await rest('PATCH', path, { ...subject.change('First'), expectedUpdatedAt: read })
    expect(first.status).toBe(200)
    const told = (await logOf(tenant)).length
    const stale = await rest('PATCH', path, { ...subject.change('Second'), expectedUpdatedAt: read })
    expect([stale.status, stale.body]).toEqual([
      409,
      {
        message: 'It was changed since it was read.',
        requestId: expect.any(String),
        fields: [{ field: 'expectedUpdatedAt', description: 'is not its updatedAt any more' }],
        code: 'CONFLICT',
      },
    ])
    const mutation = `mutation { changed: ${subject.mutation(id, 'Third', read)} }`
    expect((await surfaces.gql(tenant, token, mutation)).body.data.changed).toEqual({
      __typename: 'ConflictError',
      fields: [{ field: 'expectedUpdatedAt' }],
    })
    // Nothing was written, and nothing told.
    expect((await rest('GET', path)).body).toEqual(first.body)
    expect(await logOf(tenant)).toHaveLength(told)
    const now = await subject.updatedAt(path)
    const next = await surfaces.gql(
      tenant,
      token,
      `mutation { changed: ${subject.mutation(id, 'Fourth', now)} }`,
    )
    expect(next.body.data.changed.__typename).toMatch(/Payload$/)
    expect((await rest('GET', path)).body).toMatchObject(subject.change('Fourth'))
  })

  it('is won by one of many who expect the same', async () => {
    const { path, id } = await subject.make()
    const expected = await subject.updatedAt(path)
    const told = (await logOf(tenant)).length
    const outcomes = await Promise.all(
      Array.from({ length: 12 }, async (_, index) => {
        if (index % 2 === 0)
          return (
            await rest('PATCH', path, { ...subject.change(`Racer ${index}`), expectedUpdatedAt: expected })
          ).status
        const { body } = await surfaces.gql(
          tenant,
          token,
          `mutation { changed: ${subject.mutation(id, `Racer ${index}`, expected)} }`,
        )
        return body.data.changed.__typename === 'ConflictError' ? 409 : 200
      }),
    )
    expect(outcomes.toSorted()).toEqual([200, ...Array(11).fill(409)])
    expect(await logOf(tenant)).toHaveLength(told + 1)
  })

  it('is refused when it is no time, and may be left out or null', async () => {
    const { path } = await subject.make()
    for (const expectedUpdatedAt of ['', 'yesterday', 5, {}, '2026-01-31', '2026-01-31T12:00:00']) {
      const { status, body } = await rest('PATCH', path, { ...subject.change('New'), expectedUpdatedAt })
      expect([status, body.fields.map(({ field }: { field: string }) => field)]).toEqual([
        400,
        ['expectedUpdatedAt'],
      ])
    }
    expect((await rest('PATCH', path, { ...subject.change('New'), expectedUpdatedAt: null })).status).toBe(
      200,
    )
    // The same instant, written in another zone.
    const read = new Date(await subject.updatedAt(path))
    const written = new Date(read.getTime() + 3_600_000).toISOString().replace('Z', '+01:00')
    expect(
      (await rest('PATCH', path, { ...subject.change('Zoned'), expectedUpdatedAt: written })).status,
    ).toBe(200)
  })
})

describe('updatedAt', () => {
  it('sent back stale beside a stale expectation is the conflict, not a fault of the input', async () => {
    const { path } = await (SUBJECTS.client as Subject).make()
    const { updatedAt } = (await rest('GET', path)).body
    await rest('PATCH', path, { name: 'Changed' })
    expect((await rest('PATCH', path, { name: 'x', updatedAt, expectedUpdatedAt: updatedAt })).status).toBe(
      409,
    )
    expect((await rest('PATCH', path, { name: 'x', updatedAt })).status).toBe(400)
  })

  it('of settings stays when nothing changes, moves when something does, and is the same on both surfaces', async () => {
    const own = await newTenant()
    const ownToken = await tokenFor(own)
    const at = async (body: object) =>
      (await surfaces.rest(own, ownToken, 'PATCH', '/settings', body)).headers.get('updated-at') as string
    const first = await at({ friendlyName: 'Acme' })
    const told = (await logOf(own)).length
    expect(await at({ friendlyName: 'Acme', logoUrl: '' })).toBe(first)
    expect(await at({})).toBe(first)
    expect(await logOf(own)).toHaveLength(told)
    const second = await at({ friendlyName: 'Acme Ltd', logoUrl: null })
    expect(second > first).toBe(true)
    expect((await logOf(own)).slice(told)).toMatchObject([
      { type: 'tenant.updated', changedFields: ['friendlyName'] },
    ])
    const { body } = await surfaces.gql(own, ownToken, '{ tenant { updatedAt } }')
    expect(body.data.tenant.updatedAt).toBe(second)
  })
})
