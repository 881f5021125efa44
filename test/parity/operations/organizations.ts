import type { Call, Gql, Rest } from '../call.ts'
import type { Fixture } from '../fixture.ts'
import { objectQuery, pageQuery, readGone, readPage, select, unknownId, userListQuery } from '../queries.ts'

const organization = objectQuery('organization', 'Organization', 'ID')
const bySlug = objectQuery('organizationBySlug', 'Organization', 'String', 'slug')
const membership = objectQuery('membership', 'Membership', 'ID')
const organizations = pageQuery('organizations', 'Organization', 'organizations')

const WHICH = ['unknown', 'present']
const toId = (which: string, { organizationId }: Fixture): string =>
  which === 'present' ? organizationId : unknownId('organization')
const toMembershipId = (which: string, { membershipId }: Fixture): string =>
  which === 'present' ? membershipId : unknownId('membership')
const toUserId = (which: string, { userId }: Fixture): string =>
  which === 'present' ? userId : unknownId('user')

export const ORGANIZATION_OPERATIONS: Record<string, Call[]> = {
  createOrganization: [
    { slug: 'No', name: '', themeColor: 'red', logoUrl: 'x' },
    { slug: 'acme', name: 'Another' },
    { slug: 'globex', name: 'Globex' },
    {
      slug: 'initech',
      name: 'Initech',
      themeColor: '#0A7C66',
      externalId: 'crm-1',
      metadata: { plan: 'pro' },
    },
  ].map((input) => ({
    title: `${input.slug} ${input.name}`,
    rest: (): Rest => ['POST', '/organizations', input],
    gql: (): Gql => ({ mutation: 'createOrganization', input, read: (result) => result.organization }),
  })),
  listOrganizations: [{}, { page: 1, pageSize: 1 }, { pageSize: 0 }].map((page) => ({
    title: JSON.stringify(page),
    rest: (): Rest => ['GET', `/organizations?${new URLSearchParams(page as Record<string, string>)}`],
    gql: (): Gql => organizations(page),
  })),
  getOrganization: WHICH.map((which) => ({
    title: which,
    rest: (fixture): Rest => ['GET', `/organizations/${toId(which, fixture)}`],
    gql: (fixture): Gql => ({ ...organization, variables: { id: toId(which, fixture) } }),
  })),
  getOrganizationBySlug: ['nobody', 'acme'].map((slug) => ({
    title: slug,
    rest: (): Rest => ['GET', `/organizations/by-slug?slug=${slug}`],
    gql: (): Gql => ({ ...bySlug, variables: { id: slug } }),
  })),
  updateOrganization: [
    { which: 'unknown', input: { name: 'x' } },
    { which: 'present', input: { slug: '', name: '' } },
    { which: 'present', input: { expectedUpdatedAt: '2020-01-01T00:00:00.000Z', name: 'Late' } },
    { which: 'present', input: { name: 'Acme Ltd.', themeColor: '#123456', metadata: { plan: 'free' } } },
    { which: 'present', input: { themeColor: '', metadata: null } },
  ].map(({ which, input }) => ({
    title: `${which} ${JSON.stringify(input)}`,
    rest: (fixture): Rest => ['PATCH', `/organizations/${toId(which, fixture)}`, input],
    gql: (fixture): Gql => ({
      mutation: 'updateOrganization',
      input: { organizationId: toId(which, fixture), ...input },
      read: (result) => result.organization,
    }),
  })),
  deleteOrganization: WHICH.map((which) => ({
    title: which,
    rest: (fixture): Rest => ['DELETE', `/organizations/${toId(which, fixture)}`],
    gql: (fixture): Gql => ({
      mutation: 'deleteOrganization',
      input: { organizationId: toId(which, fixture) },
      read: readGone,
    }),
  })),
  createMembership: [
    { title: 'unknown organization', toInput: () => unknownId('organization'), toUser: toUserId },
    {
      title: 'unknown user',
      toInput: (fixture: Fixture) => toId('present', fixture),
      toUser: () => unknownId('user'),
    },
    { title: 'member', toInput: (fixture: Fixture) => toId('present', fixture), toUser: toUserId },
    {
      title: 'other user',
      toInput: (fixture: Fixture) => toId('present', fixture),
      toUser: (_which: string, { otherUserId }: Fixture) => otherUserId,
    },
  ].map(({ title, toInput, toUser }) => ({
    title,
    rest: (fixture): Rest => [
      'POST',
      `/organizations/${toInput(fixture)}/members`,
      { userId: toUser('present', fixture) },
    ],
    gql: (fixture): Gql => ({
      mutation: 'createMembership',
      input: { organizationId: toInput(fixture), userId: toUser('present', fixture) },
      read: (result) => result.membership,
    }),
  })),
  listOrganizationMembers: WHICH.map((which) => ({
    title: which,
    rest: (fixture): Rest => ['GET', `/organizations/${toId(which, fixture)}/members`],
    gql: (fixture): Gql => ({
      query: `query($id: ID!) { organization(id: $id) { result: members(first: 50) { page pageSize totalSize pageInfo { endsEarly } nodes ${select('Membership')} } } }`,
      variables: { id: toId(which, fixture) },
      read: ({ organization: found }) => found && { ...readPage('memberships')(found), page: 0 },
    }),
  })),
  listUserMemberships: WHICH.map((which) => ({
    title: which,
    rest: (fixture): Rest => ['GET', `/users/${toUserId(which, fixture)}/memberships`],
    gql: (fixture): Gql =>
      userListQuery('memberships', 'Membership', 'memberships')(toUserId(which, fixture)),
  })),
  listUserOrganizations: WHICH.map((which) => ({
    title: which,
    rest: (fixture): Rest => ['GET', `/users/${toUserId(which, fixture)}/organizations`],
    gql: (fixture): Gql =>
      userListQuery('organizations', 'Organization', 'organizations')(toUserId(which, fixture)),
  })),
  getMembership: WHICH.map((which) => ({
    title: which,
    rest: (fixture): Rest => ['GET', `/memberships/${toMembershipId(which, fixture)}`],
    gql: (fixture): Gql => ({ ...membership, variables: { id: toMembershipId(which, fixture) } }),
  })),
  updateMembership: [
    { which: 'unknown', input: { isAdministrator: true } },
    { which: 'present', input: { isAdministrator: true } },
    { which: 'present', input: { isAdministrator: false } },
  ].map(({ which, input }) => ({
    title: `${which} ${JSON.stringify(input)}`,
    rest: (fixture): Rest => ['PATCH', `/memberships/${toMembershipId(which, fixture)}`, input],
    gql: (fixture): Gql => ({
      mutation: 'updateMembership',
      input: { membershipId: toMembershipId(which, fixture), ...input },
      read: (result) => result.membership,
    }),
  })),
  listOrganizationAppRoles: WHICH.map((which) => ({
    title: which,
    rest: (fixture): Rest => ['GET', `/organizations/${toId(which, fixture)}/app-roles`],
    gql: (fixture): Gql => ({
      query: `query($id: ID!) { organization(id: $id) { result: appRoles(first: 50) { page pageSize totalSize pageInfo { endsEarly } nodes ${select('AppRole')} } } }`,
      variables: { id: toId(which, fixture) },
      read: ({ organization: found }) => found && { ...readPage('appRoles')(found), page: 0 },
    }),
  })),
  listPermittedApis: WHICH.map((which) => ({
    title: which,
    rest: (fixture): Rest => ['GET', `/organizations/${toId(which, fixture)}/permitted-apis`],
    gql: (fixture): Gql => ({
      query: `query($id: ID!) { organization(id: $id) { result: permittedApis(first: 50) { page pageSize totalSize pageInfo { endsEarly } nodes ${select('PermittedApi')} } } }`,
      variables: { id: toId(which, fixture) },
      read: ({ organization: found }) => found && { ...readPage('permittedApis')(found), page: 0 },
    }),
  })),
  listOrganizationIdentityProviders: WHICH.map((which) => ({
    title: which,
    rest: (fixture): Rest => ['GET', `/organizations/${toId(which, fixture)}/idps`],
    gql: (fixture): Gql => ({
      query: `query($id: ID!) { organization(id: $id) { result: identityProviders(first: 50) { page pageSize totalSize pageInfo { endsEarly } nodes ${select('IdentityProvider')} } } }`,
      variables: { id: toId(which, fixture) },
      read: ({ organization: found }) => found && { ...readPage('idps')(found), page: 0 },
    }),
  })),
  deleteMembership: WHICH.map((which) => ({
    title: which,
    rest: (fixture): Rest => ['DELETE', `/memberships/${toMembershipId(which, fixture)}`],
    gql: (fixture): Gql => ({
      mutation: 'deleteMembership',
      input: { membershipId: toMembershipId(which, fixture) },
      read: readGone,
    }),
  })),
}
