import { test as base, type Caller } from './account.ts'
import { makeSpa } from './people.ts'

const LIST_CONSENTS = `query ($first: Int, $after: String) { viewer { user { consents(first: $first, after: $after) {
  totalSize pageInfo { endCursor hasNextPage }
  nodes { clientId clientName clientLogoUrl createdAt scopes { scope words } }
} } } }`

/** With users who have agreed to client `portal`, and their consents. */
export const test = base
  .extend('portal', { scope: 'file' }, ({ tenant }) => makeSpa(tenant, { name: 'Portal' }))
  .extend('newSignedIn', { scope: 'file' }, ({ newPerson, signIn, portal }) => async () => {
    const { email } = await newPerson()
    return { email, ...(await signIn(email, { client: portal, scope: 'openid account' })) }
  })
  .extend(
    'listConsents',
    { scope: 'file' },
    ({ gql }) =>
      async ({ token }: Caller, variables: object = {}) =>
        (await gql(LIST_CONSENTS, variables, { token })).body.data.viewer.user.consents,
  )
  .extend(
    'revoke',
    { scope: 'file' },
    ({ mutate }) =>
      (caller: Caller, clientId: string) =>
        mutate(
          caller,
          'revokeViewerConsent',
          { clientId },
          '... on RevokeViewerConsentPayload { revokedClientId }',
        ),
  )
