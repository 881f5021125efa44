import type { Ctx } from '../../../src/context/context.ts'
import { addGroupMembers } from '../../../src/permissions/groups.ts'
import type { Call, Gql, Rest } from '../call.ts'
import type { Fixture } from '../fixture.ts'
import { objectQuery, PAGE, pageQuery, readGone, readPage, select, unknownId } from '../queries.ts'

const api = objectQuery('api', 'Api', 'ID')
const apis = pageQuery('apis', 'Api', 'apis')
const toApiId = (which: string, apiId: string): string => (which === 'present' ? apiId : unknownId('api'))

const appRole = objectQuery('appRole', 'AppRole', 'ID')
const appRoles = pageQuery('appRoles', 'AppRole', 'appRoles')
const toRoleId = (which: string, appRoleId: string): string =>
  which === 'present' ? appRoleId : unknownId('role')
const managementRole = objectQuery('managementRole', 'ManagementRole', 'ID')
const managementRoles = pageQuery('managementRoles', 'ManagementRole', 'managementRoles')
const toManagementRoleId = (which: string, id: string): string =>
  which === 'present' ? id : unknownId('mgmtrole')
const HELD = ['unknown', 'present']

const group = objectQuery('group', 'Group', 'ID')
const groups = pageQuery('groups', 'Group', 'groups')
const toGroupId = (which: string, groupId: string): string =>
  which === 'present' ? groupId : unknownId('group')

/** `NO_ROLE` is no-role. */
const toReason = (name: string): string => name.toLowerCase().replaceAll('_', '-')
const CHECKS = [
  { permission: 'orders:read', api: 'urn:unknown', explain: true },
  { permission: 'orders:read', api: 'https://api.parity.example', explain: true },
  {
    permission: 'orders:read',
    api: 'https://api.parity.example',
    organizationId: unknownId('organization'),
    explain: false,
  },
]

/** The roles of holders that have an object of their own. */
const mapHolders = (
  ...holders: [kind: string, field: string, toId: (fixture: Fixture) => string][]
): Record<string, Call[]> =>
  Object.fromEntries(
    holders.flatMap(([kind, field, toId]): [string, Call[]][] => [
      [
        `set${kind}AppRoles`,
        HELD.map((which) => ({
          title: which,
          rest: (fixture): Rest => [
            'PUT',
            `/${field}s/${toId(fixture)}/app-roles`,
            { appRoleIds: [toRoleId(which, fixture.appRoleId)] },
          ],
          gql: (fixture): Gql => ({
            mutation: `set${kind}AppRoles`,
            input: { [`${field}Id`]: toId(fixture), appRoleIds: [toRoleId(which, fixture.appRoleId)] },
            read: ({ appRoles }) => ({ appRoles }),
          }),
        })),
      ],
      [
        `get${kind}AppRoles`,
        [
          {
            title: 'present',
            rest: (fixture): Rest => ['GET', `/${field}s/${toId(fixture)}/app-roles`],
            gql: (fixture): Gql => ({
              query: `query($id: ID!) { ${field}(id: $id) { appRoles ${select('AppRole')}${
                kind === 'Membership' ? ` providedAppRoles ${select('ProvidedAppRole')}` : ''
              } } }`,
              variables: { id: toId(fixture) },
              read: (data) => data[field],
            }),
          },
        ],
      ],
    ]),
  )

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
  createManagementRole: [
    { name: 'A b', scopes: ['x'] },
    { name: 'none', scopes: [] },
    { name: 'operators', scopes: ['tenants:read'] },
    { name: 'admin', scopes: ['users:read'] },
    { name: 'helper', scopes: ['users:read'] },
    { name: 'new', description: 'New', scopes: ['users:write', 'users:read'] },
  ].map((input) => ({
    title: JSON.stringify(input),
    rest: (): Rest => ['POST', '/management-roles', input],
    gql: (): Gql => ({ mutation: 'createManagementRole', input, read: (payload) => payload.managementRole }),
  })),
  listManagementRoles: PAGES.map((page) => ({
    title: JSON.stringify(page),
    rest: (): Rest => ['GET', `/management-roles?${toParameters(page)}`],
    gql: (): Gql => managementRoles(page),
  })),
  getManagementRole: HELD.map((which) => ({
    title: which,
    rest: ({ managementRoleId: id }): Rest => ['GET', `/management-roles/${toManagementRoleId(which, id)}`],
    gql: ({ managementRoleId: id }): Gql => ({
      ...managementRole,
      variables: { id: toManagementRoleId(which, id) },
    }),
  })),
  updateManagementRole: [
    { which: 'unknown', input: {} },
    { which: 'present', input: { scopes: [] } },
    { which: 'present', input: { description: 'Other', scopes: ['users:read', 'users:write'] } },
  ].map(({ which, input }) => ({
    title: `${which} ${JSON.stringify(input)}`,
    rest: ({ managementRoleId: id }): Rest => [
      'PATCH',
      `/management-roles/${toManagementRoleId(which, id)}`,
      input,
    ],
    gql: ({ managementRoleId: id }): Gql => ({
      mutation: 'updateManagementRole',
      input: { managementRoleId: toManagementRoleId(which, id), ...input },
      read: (payload) => payload.managementRole,
    }),
  })),
  deleteManagementRole: HELD.map((which) => ({
    title: which,
    rest: ({ managementRoleId: id }): Rest => [
      'DELETE',
      `/management-roles/${toManagementRoleId(which, id)}`,
    ],
    gql: ({ managementRoleId: id }): Gql => ({
      mutation: 'deleteManagementRole',
      input: { managementRoleId: toManagementRoleId(which, id) },
      read: readGone,
    }),
  })),
  createAppRole: [
    { name: 'a b', assignableTo: [], permissions: [{ apiId: '', name: '' }] },
    { name: 'foreign', permissions: [{ apiId: unknownId('api'), name: 'x' }] },
    { name: 'clerk' },
    { name: 'new', description: 'New', assignableTo: null },
    { name: 'own', organizationId: unknownId('organization') },
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
  listAppRoleHolders: [
    {
      title: 'present',
      rest: ({ appRoleId }): Rest => ['GET', `/app-roles/${appRoleId}/holders`],
      gql: ({ appRoleId }): Gql => ({
        query: `query($id: ID!) { appRole(id: $id) { result: holders { ${PAGE} nodes ${select('AppRoleHolding')} } } }`,
        variables: { id: appRoleId },
        read: ({ appRole: role }) => readPage('holders')({ result: { ...role.result, page: 0 } }),
      }),
    },
  ],
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
  createGroup: [
    { name: '', parentId: '' },
    { name: 'New', parentId: unknownId('group') },
    { name: 'New', organizationId: unknownId('organization') },
    { name: 'Desk' },
    { name: 'New', description: null },
  ].map((input) => ({
    title: JSON.stringify(input),
    rest: (): Rest => ['POST', '/groups', input],
    gql: (): Gql => ({ mutation: 'createGroup', input, read: ({ group }) => group }),
  })),
  listGroups: PAGES.map((page) => ({
    title: JSON.stringify(page),
    rest: (): Rest => ['GET', `/groups?${toParameters(page)}`],
    gql: (): Gql => groups(page),
  })),
  getGroup: HELD.map((which) => ({
    title: which,
    rest: ({ groupId }): Rest => ['GET', `/groups/${toGroupId(which, groupId)}`],
    gql: ({ groupId }): Gql => ({ ...group, variables: { id: toGroupId(which, groupId) } }),
  })),
  updateGroup: [
    { which: 'unknown', input: {} },
    { which: 'present', input: { name: null } },
    { which: 'present', input: { name: 'Other', description: '' } },
  ].map(({ which, input }) => ({
    title: `${which} ${JSON.stringify(input)}`,
    rest: ({ groupId }): Rest => ['PATCH', `/groups/${toGroupId(which, groupId)}`, input],
    gql: ({ groupId }): Gql => ({
      mutation: 'updateGroup',
      input: { groupId: toGroupId(which, groupId), ...input },
      read: ({ group }) => group,
    }),
  })),
  deleteGroup: HELD.map((which) => ({
    title: which,
    rest: ({ groupId }): Rest => ['DELETE', `/groups/${toGroupId(which, groupId)}`],
    gql: ({ groupId }): Gql => ({
      mutation: 'deleteGroup',
      input: { groupId: toGroupId(which, groupId) },
      read: readGone,
    }),
  })),
  addGroupMembers: HELD.map((which) => ({
    title: which,
    rest: ({ groupId, userId }): Rest => [
      'POST',
      `/groups/${groupId}/members`,
      { userIds: [which === 'present' ? userId : unknownId('user')] },
    ],
    gql: ({ groupId, userId }): Gql => ({
      mutation: 'addGroupMembers',
      input: { groupId, userIds: [which === 'present' ? userId : unknownId('user')] },
      read: ({ group }) => group,
    }),
  })),
  deleteGroupMembers: ['unknown', 'added', 'present'].map((which) => {
    const prepare = async ({ ctx, groupId, userId }: Fixture) => {
      // Callers that share a fixture may have deleted the group.
      const where = { tenantId: ctx.tenant, id: groupId }
      if (which !== 'unknown' && (await ctx.db.prisma.group.count({ where })) > 0)
        await addGroupMembers(ctx, groupId, { userIds: [userId] })
    }
    return {
      title: which,
      rest: async (fixture): Promise<Rest> => {
        await prepare(fixture)
        return [
          'POST',
          `/groups/${toGroupId(which === 'unknown' ? which : 'present', fixture.groupId)}/members/delete`,
          { userIds: [fixture.userId] },
        ]
      },
      gql: async (fixture): Promise<Gql> => {
        await prepare(fixture)
        return {
          mutation: 'deleteGroupMembers',
          input: {
            groupId: toGroupId(which === 'unknown' ? which : 'present', fixture.groupId),
            userIds: [fixture.userId],
          },
          read: ({ group }) => group,
        }
      },
    }
  }),
  listGroupMembers: [
    {
      title: 'present',
      rest: ({ groupId }): Rest => ['GET', `/groups/${groupId}/members`],
      gql: ({ groupId }): Gql => ({
        query: `query($id: ID!) { group(id: $id) { result: members { ${PAGE} nodes ${select('User')} } } }`,
        variables: { id: groupId },
        read: ({ group }) => readPage('users')({ result: { ...group.result, page: 0 } }),
      }),
    },
  ],
  ...mapHolders(
    ['Membership', 'membership', ({ membershipId }) => membershipId],
    ['Group', 'group', ({ groupId }) => groupId],
  ),
  checkPermission: CHECKS.map((given) => ({
    title: JSON.stringify(given),
    rest: ({ userId }): Rest => ['POST', '/permission-check', { userId, ...given }],
    gql: ({ userId }): Gql => ({
      query: `query($userId: ID!, $permission: String!, $api: String!, $organizationId: ID, $explain: Boolean) {
        result: checkPermission(userId: $userId, permission: $permission, api: $api, organizationId: $organizationId, explain: $explain) { isPermitted reason paths ${select('PermissionPath')} }
      }`,
      variables: { userId, ...given },
      read: ({ result }) => ({ ...result, reason: toReason(result.reason) }),
    }),
  })),
  checkPermissions: [{ checks: [] }, { checks: CHECKS.map(({ explain: _, ...check }) => check) }].map(
    ({ checks }) => ({
      title: `${checks.length} checks`,
      rest: ({ userId }): Rest => [
        'POST',
        '/permission-checks',
        { checks: checks.map((check) => ({ userId, ...check })) },
      ],
      gql: ({ userId }): Gql => ({
        query: `query($checks: [PermissionCheckInput!]!) { results: checkPermissions(checks: $checks) { isPermitted reason paths ${select('PermissionPath')} } }`,
        variables: { checks: checks.map((check) => ({ userId, ...check })) },
        read: ({ results }) => ({
          results: results.map((result: { reason: string }) => ({
            ...result,
            reason: toReason(result.reason),
          })),
        }),
      }),
    }),
  ),
  listPermittedUsers: [{}, { permission: 'orders:read', api: 'https://api.parity.example' }].map(
    (filter) => ({
      title: JSON.stringify(filter),
      rest: (): Rest => ['GET', `/permitted-users?${toParameters({ page: 0, ...filter })}`],
      gql: (): Gql => ({
        query: `query($filter: PermissionFilter) { result: whoCan(page: 0, filter: $filter) { ${PAGE} nodes ${select('User')} } }`,
        variables: { filter },
        read: readPage('users'),
      }),
    }),
  ),
}
