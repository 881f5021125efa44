import type { Ctx } from '../../../src/context/context.ts'
import type { Call, Gql, Rest } from '../call.ts'
import { objectQuery, pageQuery, readGone, select, unknownId } from '../queries.ts'

const api = objectQuery('api', 'Api', 'ID')
const apis = pageQuery('apis', 'Api', 'apis')
const toApiId = (which: string, apiId: string): string => (which === 'present' ? apiId : unknownId('api'))

const appRole = objectQuery('appRole', 'AppRole', 'ID')
const appRoles = pageQuery('appRoles', 'AppRole', 'appRoles')
const toRoleId = (which: string, appRoleId: string): string =>
  which === 'present' ? appRoleId : unknownId('role')
const HELD = ['unknown', 'present']

/** The machine client that calls. */
const toMachine = ({ actor }: Ctx): string => (actor.kind === 'client' ? actor.clientId : '')

const PAGES = [{}, { page: 1, pageSize: 1 }, { pageSize: 0 }]
const toParameters = (page: object): string => `${new URLSearchParams(page as Record<string, string>)}`

export const PERMISSION_OPERATIONS: Record<string, Call[]> = {
  createApi: [
    { identifier: 'x y', name: '', tokenExpiryTime: 1, permissions: [{ name: 'a b' }, { name: '"' }] },
    { identifier: 'https://api.parity.example', name: 'Taken' },
    {
      identifier: 'https://new.parity.example',
      name: 'New',
      translations: [{ locale: 'de-at', name: 'Neu' }],
      permissions: [{ name: 'b' }, { name: 'a', description: 'A', translations: [] }],
    },
  ].map((input) => ({
    title: input.name,
    rest: (): Rest => ['POST', '/apis', input],
    gql: (): Gql => ({ mutation: 'createApi', input, read: ({ api }) => api }),
  })),
  listApis: PAGES.map((page) => ({
    title: JSON.stringify(page),
    rest: (): Rest => ['GET', `/apis?${toParameters(page)}`],
    gql: (): Gql => apis(page),
  })),
  getApi: ['unknown', 'present'].map((which) => ({
    title: which,
    rest: ({ apiId }): Rest => ['GET', `/apis/${toApiId(which, apiId)}`],
    gql: ({ apiId }): Gql => ({ ...api, variables: { id: toApiId(which, apiId) } }),
  })),
  updateApi: [
    { which: 'unknown', input: {} },
    { which: 'present', input: { name: null } },
    { which: 'present', input: { description: '', permissions: [{ name: 'orders:write' }] } },
  ].map(({ which, input }) => ({
    title: `${which} ${JSON.stringify(input)}`,
    rest: ({ apiId }): Rest => ['PATCH', `/apis/${toApiId(which, apiId)}`, input],
    gql: ({ apiId }): Gql => ({
      mutation: 'updateApi',
      input: { apiId: toApiId(which, apiId), ...input },
      read: ({ api }) => api,
    }),
  })),
  deleteApi: ['unknown', 'present'].map((which) => ({
    title: which,
    rest: ({ apiId }): Rest => ['DELETE', `/apis/${toApiId(which, apiId)}`],
    gql: ({ apiId }): Gql => ({
      mutation: 'deleteApi',
      input: { apiId: toApiId(which, apiId) },
      read: readGone,
    }),
  })),
  createAppRole: [
    { name: 'a b', assignableTo: [], permissions: [{ apiId: '', name: '' }] },
    { name: 'foreign', permissions: [{ apiId: unknownId('api'), name: 'x' }] },
    { name: 'clerk' },
    { name: 'new', description: 'New', assignableTo: null },
  ].map((input) => ({
    title: JSON.stringify(input),
    rest: (): Rest => ['POST', '/app-roles', input],
    gql: (): Gql => ({ mutation: 'createAppRole', input, read: ({ appRole }) => appRole }),
  })),
  listAppRoles: PAGES.map((page) => ({
    title: JSON.stringify(page),
    rest: (): Rest => ['GET', `/app-roles?${toParameters(page)}`],
    gql: (): Gql => appRoles(page),
  })),
  getAppRole: ['unknown', 'present'].map((which) => ({
    title: which,
    rest: ({ appRoleId }): Rest => ['GET', `/app-roles/${toRoleId(which, appRoleId)}`],
    gql: ({ appRoleId }): Gql => ({ ...appRole, variables: { id: toRoleId(which, appRoleId) } }),
  })),
  updateAppRole: [
    { which: 'unknown', input: {} },
    { which: 'present', input: { permissions: [{ apiId: unknownId('api'), name: 'x' }] } },
    { which: 'present', input: { description: 'Other', permissions: [] } },
  ].map(({ which, input }) => ({
    title: `${which} ${JSON.stringify(input)}`,
    rest: ({ appRoleId }): Rest => ['PATCH', `/app-roles/${toRoleId(which, appRoleId)}`, input],
    gql: ({ appRoleId }): Gql => ({
      mutation: 'updateAppRole',
      input: { appRoleId: toRoleId(which, appRoleId), ...input },
      read: ({ appRole }) => appRole,
    }),
  })),
  deleteAppRole: ['unknown', 'present'].map((which) => ({
    title: which,
    rest: ({ appRoleId }): Rest => ['DELETE', `/app-roles/${toRoleId(which, appRoleId)}`],
    gql: ({ appRoleId }): Gql => ({
      mutation: 'deleteAppRole',
      input: { appRoleId: toRoleId(which, appRoleId) },
      read: readGone,
    }),
  })),
  setUserAppRoles: HELD.map((which) => ({
    title: which,
    rest: ({ userId, appRoleId }): Rest => [
      'PUT',
      `/users/${userId}/app-roles`,
      { appRoleIds: [toRoleId(which, appRoleId)] },
    ],
    gql: ({ userId, appRoleId }): Gql => ({
      mutation: 'setUserAppRoles',
      input: { userId, appRoleIds: [toRoleId(which, appRoleId)] },
      read: ({ appRoles }) => ({ appRoles }),
    }),
  })),
  getUserAppRoles: [
    {
      title: 'present',
      rest: ({ userId }): Rest => ['GET', `/users/${userId}/app-roles`],
      gql: ({ userId }): Gql => ({
        query: `query($id: ID!) { user(id: $id) { appRoles ${select('AppRole')} } }`,
        variables: { id: userId },
        read: ({ user }) => user,
      }),
    },
  ],
  setClientAppRoles: HELD.map((which) => ({
    title: which,
    rest: ({ ctx, appRoleId }): Rest => [
      'PUT',
      `/clients/${toMachine(ctx)}/app-roles`,
      { appRoleIds: [toRoleId(which, appRoleId)] },
    ],
    gql: ({ ctx, appRoleId }): Gql => ({
      mutation: 'setClientAppRoles',
      input: { clientId: toMachine(ctx), appRoleIds: [toRoleId(which, appRoleId)] },
      read: ({ appRoles }) => ({ appRoles }),
    }),
  })),
  getClientAppRoles: [
    {
      title: 'present',
      rest: ({ ctx }): Rest => ['GET', `/clients/${toMachine(ctx)}/app-roles`],
      gql: ({ ctx }): Gql => ({
        query: `query($id: ID!) { client(id: $id) { appRoles ${select('AppRole')} } }`,
        variables: { id: toMachine(ctx) },
        read: ({ client }) => client,
      }),
    },
  ],
}
