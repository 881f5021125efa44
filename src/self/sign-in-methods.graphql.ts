import { EnrollmentTokenPayload } from '../credentials/credential-mutations.graphql.ts'
import { CredentialTypeEnum } from '../credentials/credentials.graphql.ts'
import { Conflict, InvalidInput, NotFound, RateLimited, UserLocked } from '../errors.ts'
import { builder } from '../graphql/builder.ts'
import { requireId } from '../graphql/node.graphql.ts'
import { resultOf } from '../graphql/result.ts'
import { open, ownAccount } from '../graphql/scoped.ts'
import { IdpUserPayload, linkInputFields } from '../idps/idp-users.graphql.ts'
import { requireIdpId } from '../idps/idps.graphql.ts'
import { RECENT_SIGN_IN } from './own-access.ts'
import {
  createViewerEnrollmentToken,
  linkViewerIdpUser,
  revokeViewerCredential,
  unlinkViewerIdpUser,
} from './sign-in-methods.ts'

const CreateViewerEnrollmentTokenInput = builder.inputType('CreateViewerEnrollmentTokenInput', {
  description: 'Input of createViewerEnrollmentToken.',
  fields: (t) => ({
    type: t.field({
      type: CredentialTypeEnum,
      description: 'Kind of the credential; PUBLIC_KEY when omitted.',
    }),
  }),
})

builder.mutationField('createViewerEnrollmentToken', (t) =>
  t.field({
    ...ownAccount(`Makes a link with which I create a passkey, once, within 24 hours. ${RECENT_SIGN_IN}`),
    ...resultOf(InvalidInput, UserLocked),
    type: EnrollmentTokenPayload,
    args: {
      input: t.arg({ type: CreateViewerEnrollmentTokenInput, required: true, description: 'Of what kind.' }),
    },
    resolve: (_root, { input }, { ctx }) => createViewerEnrollmentToken(ctx, input),
  }),
)

const RevokeViewerCredentialPayload = builder
  .objectRef<{ revokedCredentialId: string }>('RevokeViewerCredentialPayload')
  .implement({
    ...open('The credential is gone.'),
    fields: (t) => ({
      revokedCredentialId: t.exposeID('revokedCredentialId', { description: 'Id that the credential had.' }),
    }),
  })

const RevokeViewerCredentialInput = builder.inputType('RevokeViewerCredentialInput', {
  description: 'Input of revokeViewerCredential.',
  fields: (t) => ({ credentialId: t.id({ required: true, description: 'Id of the credential.' }) }),
})

builder.mutationField('revokeViewerCredential', (t) =>
  t.field({
    ...ownAccount(`Revokes a credential of mine, for ever; a proven address must stay. ${RECENT_SIGN_IN}`),
    ...resultOf(InvalidInput, NotFound),
    type: RevokeViewerCredentialPayload,
    args: {
      input: t.arg({ type: RevokeViewerCredentialInput, required: true, description: 'The credential.' }),
    },
    resolve: (_root, { input: { credentialId } }, { ctx }) =>
      revokeViewerCredential(ctx, requireId('cred', credentialId, 'credentialId')),
  }),
)

const UnlinkViewerIdpUserPayload = builder
  .objectRef<{ unlinkedIdpUserId: string }>('UnlinkViewerIdpUserPayload')
  .implement({
    ...open('The link is gone.'),
    fields: (t) => ({
      unlinkedIdpUserId: t.exposeID('unlinkedIdpUserId', { description: 'Id that the link had.' }),
    }),
  })

const UnlinkViewerIdpUserInput = builder.inputType('UnlinkViewerIdpUserInput', {
  description: 'Input of unlinkViewerIdpUser.',
  fields: (t) => ({ idpId: t.id({ required: true, description: 'Id of the identity provider.' }) }),
})

builder.mutationField('unlinkViewerIdpUser', (t) =>
  t.field({
    ...ownAccount(`Removes my link to an identity provider; a proven address must stay. ${RECENT_SIGN_IN}`),
    ...resultOf(InvalidInput, NotFound),
    type: UnlinkViewerIdpUserPayload,
    args: { input: t.arg({ type: UnlinkViewerIdpUserInput, required: true, description: 'The provider.' }) },
    resolve: (_root, { input: { idpId } }, { ctx }) => unlinkViewerIdpUser(ctx, requireIdpId(idpId, 'idpId')),
  }),
)

/** Without accessToken: most providers do not say whose client one was issued to, and any site's that I used would do. */
const LinkViewerIdpUserInput = builder.inputType('LinkViewerIdpUserInput', {
  description:
    'Where, and exactly one proof of idToken and code. It is checked with the provider before anything is written.',
  fields: (t) => {
    const { accessToken: _, ...fields } = linkInputFields(t)
    return fields
  },
})

builder.mutationField('linkViewerIdpUser', (t) =>
  t.field({
    ...ownAccount(`Links me to the identity that a provider proves. ${RECENT_SIGN_IN}`),
    ...resultOf(InvalidInput, Conflict, NotFound, RateLimited),
    type: IdpUserPayload,
    args: { input: t.arg({ type: LinkViewerIdpUserInput, required: true, description: 'The proof.' }) },
    resolve: async (_root, { input: { idpId, ...proof } }, { ctx }) => ({
      idpUser: await linkViewerIdpUser(ctx, requireIdpId(idpId, 'idpId'), proof),
    }),
  }),
)
