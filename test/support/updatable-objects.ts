import { randomUUID } from 'node:crypto'
import type { Create, Rest } from './calls.ts'
import { MINIMAL_CLIENT } from './clients.ts'

type Callers = { tenant: string; rest: Rest; create: Create }
/** One kind of object that can be changed, on both surfaces. */
export type UpdatableObject = {
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

export const UPDATABLE_OBJECTS: Record<string, UpdatableObject> = {
  user: {
    make: async ({ create }) => {
      const { id } = await create('/users', { name: 'Ada' })
      return { path: `/users/${id}`, id }
    },
    readUpdatedAt,
    change: (name) => ({ name }),
    mutation: (id, name) => ['updateUser', `userId: "${id}", fields: { name: "${name}" }`],
  },
  client: {
    make: async ({ create }) => {
      const { id } = await create('/clients', MINIMAL_CLIENT)
      return { path: `/clients/${id}`, id }
    },
    readUpdatedAt,
    change: (name) => ({ name }),
    mutation: (id, name) => ['updateClient', `clientId: "${id}", fields: { name: "${name}" }`],
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

export const toMutation = (
  { mutation }: UpdatableObject,
  id: string,
  value: string,
  expected: string,
): string => {
  const [name, input] = mutation(id, value)
  return `mutation { changed: ${name}(input: { expectedUpdatedAt: "${expected}", ${input} }) {
    __typename ... on ConflictError { fields { field } } ... on ValidationError { fields { field } } } }`
}
