import { randomUUID } from 'node:crypto'
import { describe, expect } from 'vitest'
import { newTenant } from '../support/actors.ts'
import type { Create, Rest } from '../support/calls.ts'
import { MINIMAL_CLIENT } from '../support/clients.ts'
import { test } from '../support/fixtures.ts'

type Callers = { tenant: string; rest: Rest; create: Create }
/** One kind of object that can be changed, on both surfaces. */
type UpdatableObject = {
  /** Makes one: the path that changes it, and its id for GraphQL. */
  make: (callers: Callers) => Promise<{ path: string; id: string }>
  readUpdatedAt: (rest: Rest, path: string) => Promise<string>
  /** A change of one field, as REST's body. */
  change: (value: string) => object
  /** The name of the mutation, and the members of its input apart from expectedUpdatedAt. */
  mutation: (id: string, value: string) => [name: string, input: string]
}

const readUpdatedAt = async (rest: Rest, path: string): Promise<string> =>
  (await rest('GET', path)).body.updatedAt

const UPDATABLE_OBJECTS: Record<string, UpdatableObject> = {
  user: {
    make: async ({ create }) => {
      const { id } = await create('/users', { name: 'Ada' })
      return { path: `/users/${id}`, id }
    },
    readUpdatedAt,
    change: (name) => ({ name }),
    mutation: (id, name) => ['updateUser', `userId: "${id}", name: "${name}"`],
  },
  client: {
    make: async ({ create }) => {
      const { id } = await create('/clients', MINIMAL_CLIENT)
      return { path: `/clients/${id}`, id }
    },
    readUpdatedAt,
    change: (name) => ({ name }),
    mutation: (id, name) => ['updateClient', `clientId: "${id}", name: "${name}"`],
  },
  'identity provider': {
    make: async ({ create }) => {
      const id = `idp-${randomUUID()}`
      await create('/idps', { id, type: 'google', name: 'Google', clientId: 'c', clientSecret: 's' })
      return { path: `/idps/${id}`, id }
    },
    readUpdatedAt,
    change: (name) => ({ name }),
    mutation: (id, name) => ['updateIdentityProvider', `idpId: "${id}", name: "${name}"`],
  },
  settings: {
    make: async ({ tenant }) => ({ path: '/settings', id: tenant }),
    readUpdatedAt: async (rest, path) => (await rest('GET', path)).headers.get('updated-at') ?? '',
    change: (friendlyName) => ({ friendlyName }),
    mutation: (_id, name) => ['updateTenantSettings', `friendlyName: "${name}"`],
  },
}

const toMutation = ({ mutation }: UpdatableObject, id: string, value: string, expected: string): string => {
  const [name, input] = mutation(id, value)
  return `mutation { changed: ${name}(input: { expectedUpdatedAt: "${expected}", ${input} }) {
    __typename ... on ConflictError { fields { field } } ... on ValidationError { fields { field } } } }`
}

describe.each(Object.entries(UPDATABLE_OBJECTS))('expectedUpdatedAt of a %s', (_name, subject) => {
  test('accepts a change of the current version and rejects one of an older version with 409', async ({
    tenant,
    rest,
    gql,
    create,
    events,
  }) => {
    const { path, id } = await subject.make({ tenant, rest, create })
    const read = await subject.readUpdatedAt(rest, path)
    const first = await rest('PATCH', path, { ...subject.change('First'), expectedUpdatedAt: read })
    expect(first.status).toBe(200)
    const count = (await events()).length
    const stale = await rest('PATCH', path, { ...subject.change('Second'), expectedUpdatedAt: read })
    expect([stale.status, stale.body]).toEqual([
      409,
      {
        message: 'The resource has changed since it was read.',
        requestId: expect.any(String),
        fields: [{ field: 'expectedUpdatedAt', description: 'is not the current updatedAt' }],
        code: 'CONFLICT',
      },
    ])
    const mutation = toMutation(subject, id, 'Third', read)
    expect((await gql(mutation)).body.data.changed).toEqual({
      __typename: 'ConflictError',
      fields: [{ field: 'expectedUpdatedAt' }],
    })
    // Nothing was written, and no event recorded.
    expect((await rest('GET', path)).body).toEqual(first.body)
    expect(await events()).toHaveLength(count)
    const now = await subject.readUpdatedAt(rest, path)
    const next = await gql(toMutation(subject, id, 'Fourth', now))
    expect(next.body.data.changed.__typename).toMatch(/Payload$/)
    expect((await rest('GET', path)).body).toMatchObject(subject.change('Fourth'))
  })

  test('lets one of several parallel changes of the same version succeed', async ({
    tenant,
    rest,
    gql,
    create,
    events,
  }) => {
    const { path, id } = await subject.make({ tenant, rest, create })
    const expected = await subject.readUpdatedAt(rest, path)
    const count = (await events()).length
    const outcomes = await Promise.all(
      Array.from({ length: 12 }, async (_, index) => {
        if (index % 2 === 0)
          return (
            await rest('PATCH', path, { ...subject.change(`Racer ${index}`), expectedUpdatedAt: expected })
          ).status
        const { body } = await gql(toMutation(subject, id, `Racer ${index}`, expected))
        return body.data.changed.__typename === 'ConflictError' ? 409 : 200
      }),
    )
    expect(outcomes.toSorted()).toEqual([200, ...Array(11).fill(409)])
    expect(await events()).toHaveLength(count + 1)
  })

  test('is rejected when it is not a date-time, and may be null', async ({ tenant, rest, create }) => {
    const { path } = await subject.make({ tenant, rest, create })
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
    // One instant, written in another zone.
    const read = new Date(await subject.readUpdatedAt(rest, path))
    const written = new Date(read.getTime() + 3_600_000).toISOString().replace('Z', '+01:00')
    expect(
      (await rest('PATCH', path, { ...subject.change('Zoned'), expectedUpdatedAt: written })).status,
    ).toBe(200)
  })
})

describe('updatedAt', () => {
  test('answers 409 rather than 400 when an older updatedAt is sent in addition to expectedUpdatedAt', async ({
    tenant,
    rest,
    create,
  }) => {
    const { path } = await (UPDATABLE_OBJECTS.client as UpdatableObject).make({ tenant, rest, create })
    const { updatedAt } = (await rest('GET', path)).body
    await rest('PATCH', path, { name: 'Changed' })
    expect((await rest('PATCH', path, { name: 'x', updatedAt, expectedUpdatedAt: updatedAt })).status).toBe(
      409,
    )
    expect((await rest('PATCH', path, { name: 'x', updatedAt })).status).toBe(400)
  })

  test('of settings changes only with a setting and is the same on both surfaces', async ({
    rest,
    gql,
    events,
  }) => {
    const other = await newTenant()
    const change = async (body: object) =>
      (await rest('PATCH', '/settings', body, { tenant: other })).headers.get('updated-at') ?? ''
    const first = await change({ friendlyName: 'Acme' })
    const count = (await events({ tenant: other })).length
    expect(await change({ friendlyName: 'Acme', logoUrl: '' })).toBe(first)
    expect(await change({})).toBe(first)
    expect(await events({ tenant: other })).toHaveLength(count)
    const second = await change({ friendlyName: 'Acme Ltd', logoUrl: null })
    expect(second > first).toBe(true)
    expect((await events({ tenant: other })).slice(count)).toMatchObject([
      { type: 'tenant.updated', changedFields: ['friendlyName'] },
    ])
    const { body } = await gql('{ tenant { updatedAt } }', {}, { tenant: other })
    expect(body.data.tenant.updatedAt).toBe(second)
  })
})
