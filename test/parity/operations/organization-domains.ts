import { expect } from 'vitest'
import { NotFound } from '../../../src/core/errors.ts'
import { createSetupLink } from '../../../src/organization-setup/setup-links.ts'
import type { Call, Gql, Rest } from '../call.ts'
import type { Fixture } from '../fixture.ts'
import { objectQuery, readGone, readPage, select, unknownId } from '../queries.ts'

const domain = objectQuery('organizationDomain', 'OrganizationDomain', 'ID')

const WHICH = ['unknown', 'present']
const toId = (which: string, { organizationId }: Fixture): string =>
  which === 'present' ? organizationId : unknownId('organization')
const toDomainId = (which: string, { organizationDomainId }: Fixture): string =>
  which === 'present' ? organizationDomainId : unknownId('orgdomain')

/** There is none to revoke where an earlier operation has deleted the organization. */
const prepareSetupLink = async ({ ctx, organizationId }: Fixture): Promise<void> => {
  await createSetupLink(ctx, organizationId).catch((error: Error) => expect(error).toBeInstanceOf(NotFound))
}

/** A link differs from the other one of the comparison in its token and its time. */
const SETUP_LINK_OPERATIONS: Record<string, Call[]> = {
  createOrganizationSetupLink: WHICH.map((which) => ({
    title: which,
    rest: (fixture): Rest => ['POST', `/organizations/${toId(which, fixture)}/setup-link`],
    gql: (fixture): Gql => ({
      mutation: 'createOrganizationSetupLink',
      input: { organizationId: toId(which, fixture) },
      read: (result) => result,
    }),
  })),
  revokeOrganizationSetupLink: WHICH.map((which) => ({
    title: which,
    rest: async (fixture): Promise<Rest> => {
      await prepareSetupLink(fixture)
      return ['DELETE', `/organizations/${toId(which, fixture)}/setup-link`]
    },
    gql: async (fixture): Promise<Gql> => {
      await prepareSetupLink(fixture)
      return {
        mutation: 'revokeOrganizationSetupLink',
        input: { organizationId: toId(which, fixture) },
        read: readGone,
      }
    },
  })),
}

export const ORGANIZATION_DOMAIN_OPERATIONS: Record<string, Call[]> = {
  ...SETUP_LINK_OPERATIONS,
  createOrganizationDomain: [
    { which: 'unknown', input: { domain: 'parity.example' } },
    { which: 'present', input: { domain: 'localhost' } },
    { which: 'present', input: { domain: 'gmail.com' } },
    { which: 'present', input: { domain: 'acme.parity.example' } },
    { which: 'present', input: { domain: 'BÜCHER.parity.example', enrollment: 'automatic' } },
  ].map(({ which, input }) => ({
    title: `${which} ${JSON.stringify(input)}`,
    rest: (fixture): Rest => ['POST', `/organizations/${toId(which, fixture)}/domains`, input],
    gql: (fixture): Gql => ({
      mutation: 'createOrganizationDomain',
      input: {
        organizationId: toId(which, fixture),
        ...input,
        ...(input.enrollment && { enrollment: input.enrollment.toUpperCase() }),
      },
      read: (result) => result.organizationDomain,
    }),
  })),
  listOrganizationDomains: WHICH.map((which) => ({
    title: which,
    rest: (fixture): Rest => ['GET', `/organizations/${toId(which, fixture)}/domains`],
    gql: (fixture): Gql => ({
      query: `query($id: ID!) { organization(id: $id) { result: domains(first: 50) { page pageSize totalSize pageInfo { endsEarly } nodes ${select('OrganizationDomain')} } } }`,
      variables: { id: toId(which, fixture) },
      read: ({ organization: found }) => found && { ...readPage('organizationDomains')(found), page: 0 },
    }),
  })),
  getOrganizationDomain: WHICH.map((which) => ({
    title: which,
    rest: (fixture): Rest => ['GET', `/organization-domains/${toDomainId(which, fixture)}`],
    gql: (fixture): Gql => ({ ...domain, variables: { id: toDomainId(which, fixture) } }),
  })),
  updateOrganizationDomain: ['unknown', 'present'].map((which) => ({
    title: which,
    rest: (fixture): Rest => [
      'PATCH',
      `/organization-domains/${toDomainId(which, fixture)}`,
      { enrollment: 'automatic' },
    ],
    gql: (fixture): Gql => ({
      mutation: 'updateOrganizationDomain',
      input: { organizationDomainId: toDomainId(which, fixture), enrollment: 'AUTOMATIC' },
      read: (result) => result.organizationDomain,
    }),
  })),
  verifyOrganizationDomain: WHICH.map((which) => ({
    title: which,
    rest: (fixture): Rest => ['POST', `/organization-domains/${toDomainId(which, fixture)}/verify`],
    gql: (fixture): Gql => ({
      mutation: 'verifyOrganizationDomain',
      input: { organizationDomainId: toDomainId(which, fixture) },
      read: (result) => result.organizationDomain,
    }),
  })),
  deleteOrganizationDomain: WHICH.map((which) => ({
    title: which,
    rest: (fixture): Rest => ['DELETE', `/organization-domains/${toDomainId(which, fixture)}`],
    gql: (fixture): Gql => ({
      mutation: 'deleteOrganizationDomain',
      input: { organizationDomainId: toDomainId(which, fixture) },
      read: readGone,
    }),
  })),
}
