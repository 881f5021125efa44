import { newId } from '../../src/core/crypto.ts'
import { dbFor } from '../../src/database/db.ts'
import { addIdpUser } from '../../src/idps/idp-links.ts'
import { createIdentityProvider } from '../../src/idps/idps.ts'
import { test as base } from './account.ts'
import type { SignedIn } from './people.ts'
import { startUpstream } from './upstream.ts'

type Owner = SignedIn & { credentialId: string; linkId: string }
export const ENROLL =
  'mutation { createViewerEnrollmentToken(input: {}) { ... on CredentialEnrollmentTokenPayload { token uri } } }'
const METHODS = '{ viewer { user { credentials { nodes { id } } idpUsers { nodes { id idpId } } } } }'
export const toMethods = ({ credentialId, linkId }: Owner) => ({
  credentials: { nodes: [{ id: credentialId }] },
  idpUsers: { nodes: [{ id: linkId, idpId: 'partner' }] },
})

/**
 * With users who have a credential and a linked identity at provider `partner`, and a provider `real` that
 * answers.
 */
export const test = base
  .extend('upstream', { scope: 'file' }, async ({ app: _ }, { onCleanup }) => {
    const upstream = await startUpstream()
    onCleanup(upstream.close)
    return upstream
  })
  .extend('idps', { scope: 'file' }, async ({ ctx, upstream }) => {
    await createIdentityProvider(ctx, { id: 'partner', type: 'oauth2', name: 'Partner' })
    const { issuer, client } = upstream
    await createIdentityProvider(ctx, { id: 'real', type: 'oidc', name: 'Upstream', issuer, ...client })
    return ['partner', 'real']
  })
  .extend(
    'newOwner',
    { scope: 'file' },
    ({ tenant, ctx, idps: [partner = ''], newPerson, signIn }) =>
      async (): Promise<Owner> => {
        const { id: userId, email } = await newPerson()
        const credentialId = newId('cred')
        await dbFor(tenant).credential.create({
          data: { tenantId: tenant, id: credentialId, userId, externalId: credentialId },
        })
        const { id: linkId } = await addIdpUser(ctx, userId, partner, { externalId: email })
        return { ...(await signIn(email, { scope: 'openid account' })), credentialId, linkId }
      },
  )
  .extend('owner', ({ newOwner }) => newOwner())
  .extend(
    'revoke',
    { scope: 'file' },
    ({ mutate }) =>
      (by: SignedIn, credentialId: string) =>
        mutate(
          by,
          'revokeViewerCredential',
          { credentialId },
          '... on RevokeViewerCredentialPayload { revokedCredentialId }',
        ),
  )
  .extend(
    'unlink',
    { scope: 'file' },
    ({ mutate }) =>
      (by: SignedIn, idpId = 'partner') =>
        mutate(
          by,
          'unlinkViewerIdpUser',
          { idpId },
          '... on UnlinkViewerIdpUserPayload { unlinkedIdpUserId }',
        ),
  )
  .extend(
    'readMethods',
    { scope: 'file' },
    ({ gql }) =>
      async ({ token }: SignedIn) =>
        (await gql(METHODS, {}, { token })).body.data.viewer.user,
  )
